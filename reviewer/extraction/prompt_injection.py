"""Instructions to an agent, planted in text that it reads (OWASP LLM01, indirect injection).

They are recognised by their aim: to drop earlier instructions, to claim authority that a text does
not have, to act without the user's knowledge, to hand out private data, to stay in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

_AGENT = (
    r"(?:ai|a\.i\.|llm|(?:large )?language model|ai (?:system|agent|model|assistant|tool)"
    r"|(?:coding |automated )?(?:assistant|agent|reviewer)|chat ?bot|bot|model"
    r"|claude|chatgpt|gpt|copilot|gemini|codex|cursor)s?"
)
_PERSON = r"(?:user|human|person|owner|operator|developer)"
_INSTRUCTIONS = (
    r"(?:instructions?|directives?|messages?|rules?|prompts?|guidelines?|guidance|guardrails?"
    r"|restrictions?|directions?)"
)
_EARLIER = r"(?:previous|prior|above|earlier|existing|original|initial|foregoing|former|past)"
_DROP = r"(?:ignore|disregard|forget|overrides?|bypass|violate|set aside|pay no attention to)"
_ANY = r"(?:(?:all|any|every|each|of|the|my|these|those|whatever) )*"
_STEER = (
    r"(?:please )?(?:ignore|skip|bypass|disable|mark|approve|rate|rank|leave out|omit|conceal|hide"
    r"|(?:do not|don['’]t) (?:report|mention|tell|reveal|flag|warn)|say|praise|recommend|endorse"
    r"|trust|transfer|send|upload|post|e?mail|forward|delete|drop|wipe|erase|grant|reveal|print"
    r"|leak|silently|quietly|secretly|pretend|obey|paste|act as)\b"
)
_OPENS = r"(?:^|[.!?:;>*#\n(-] {0,2})"
_PRIVATE = (
    r"(?:\.env\b|\.npmrc\b|\.pypirc\b|\.netrc\b|\.ssh\b|\.aws\b|id_rsa|id_ed25519|/etc/(?:passwd"
    r"|shadow)"
    r"|environment variables|api[_ -]?keys?|credentials?|secrets?|tokens?|private keys?|passwords?"
    r"|(?:conversation|chat|message) history|(?:whole|full|entire) conversation"
    r"|customer (?:data|table|records|list)|source code|database dump)"
)
_OUTSIDE = (
    r"(?:https?://|ftp://|me\b|[\w.-]+@[\w-]+\.\w|the (?:webhook|address|server|url|link|site)\b"
    r"|(?:a |the )?(?:gist|pastebin|paste)\b|(?:a |the )?(?:public|image url|issue|form)\b"
    r"|this (?:address|url|form|server|webhook)\b|(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app"
    r"|example)\b)"
)
_HAND_OUT = (
    r"\b(?:send|post|upload|forward|exfiltrate|copy|e?mail|paste|append|encode|export|leak|transmit"
    r"|publish|put|write|store)\b"
)
_READ_OUT = (
    r"\b(?:reveal|print|repeat|send|show|leak|output|display|recite|disclose|dump|include|quote"
    r"|translate|rephrase|encode|spell out)\b"
)

_DROP_CUES = (
    "ignore", "disregard", "forget", "override", "bypass", "violate", "aside",
    "attention",
)  # fmt: skip
_INSTRUCTION_CUES = (
    "instruction", "directive", "message", "rule", "prompt", "guideline", "guidance", "guardrail",
    "restriction", "direction",
)  # fmt: skip
_PERSON_CUES = ("user", "human", "person", "owner", "operator", "developer")
_AGENT_CUES = (
    "ai", "a.i.", "llm", "model", "assistant", "agent", "reviewer", "bot", "claude", "gpt",
    "copilot", "gemini", "codex", "cursor",
)  # fmt: skip
_PRIVATE_CUES = (
    ".env", ".npmrc", ".pypirc", ".netrc", ".ssh", ".aws", "id_rsa", "id_ed25519", "/etc/",
    "environment", "key", "credential", "secret", "token", "password", "history",
    "conversation", "customer", "source", "database",
)  # fmt: skip


INJECTIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    # to drop the user's instructions
    (
        _DROP_CUES,
        rf"{_DROP} {_ANY}(?:(?:{_EARLIER}|system|safety|your|user['’]s) )+"
        rf"(?:\w+ )?(?:{_INSTRUCTIONS}|(?<=safety )checks?)",
    ),
    (
        ("drop", "abandon", "discard", "neglect"),
        rf"(?:drop|abandon|discard|neglect) (?:(?:all|any|of) )*your (?:\w+ )?{_INSTRUCTIONS}",
    ),
    (_DROP_CUES, rf"{_DROP} the {_INSTRUCTIONS} above"),
    (
        (*_DROP_CUES, "reset", "erase", "clear"),
        rf"(?:{_DROP}|reset|erase|clear) [^.!?\n]{{0,30}}?\b(?:you (?:have |had )?(?:been|were) "
        r"(?:told|given|asked)|your (?:operator|owner|developer|creator|context|memory|training"
        r"|programming|constraints?))\b",
    ),
    (
        ("ignore", "disregard", "forget"),
        r"(?:ignore|disregard|forget) (?:any|all|every|each|whatever) (?:\w+ ){0,2}"
        r"(?:instruction|directive|guideline|command)s?\b",
    ),
    (
        ("ignore", "disregard", "forget"),
        r"(?:ignore|disregard|forget) (?:everything|anything|all) (?:(?:that )?you|above|before"
        r"|prior)",
    ),
    (("ignore", "disregard"), r"(?:ignore|disregard) the (?:above|foregoing)\b"),
    (
        ("release", "free", "relieve", "absolve", "opposite"),
        r"\b(?:release|free|relieve|absolve)[ds]? you from\b|\bdo the opposite of what\b",
    ),
    (("whatever",), r"\bwhatever you (?:were|are|have been) (?:asked|told)\b"),
    (
        _DROP_CUES,
        rf"{_DROP} (?:what )?the {_PERSON}(?:['’]s (?:request|question|orders?|wish(?:es)?|task"
        rf"|words)"
        r"|(?: has| have)? (?:asked|said|wants|told))\b",
    ),
    (
        ("instead", "rather"),
        rf"(?:instead of|rather than) (?:what )?the {_PERSON}(?:['’]s (?:request|question"
        rf"|instructions?)"
        r"|(?: has| have)? (?:asked|said|wants|told))\b",
    ),
    (
        ("follow",),
        r"(?:not|stop|quit) follow(?:ing)? (?:the |your |any |these |those |(?:the )?user['’]s )+"
        rf"(?:\w+ )?{_INSTRUCTIONS}",
    ),
    # to declare those instructions invalid
    (
        _INSTRUCTION_CUES,
        rf"(?:{_EARLIER}|your) {_INSTRUCTIONS} (?:are|were|is|was|have been|has been|do|does"
        r"|have|has) (?:hereby |now )?(?:no longer|not (?:apply|valid|binding|in force|count)"
        r"|now\b|void"
        r"|null|expired|ended|cancell?ed|replaced"
        r"|obsolete|lifted|suspended|revoked|updated|a test|just a test|only a test)",
    ),
    (
        _INSTRUCTION_CUES,
        rf"\b{_INSTRUCTIONS} (?:that )?you (?:were given|received|got|have|had"
        rf"|follow)\b[^.!?\n]{{0,30}}"
        r"(?:not|n['’]t|no longer) (?:apply|count|hold|matter)",
    ),
    (
        ("off", "disabled", "suspended", "lifted", "void"),
        r"\b(?:safety|permission|security)? ?(?:checks?|confirmations?|restrictions?|filters?"
        r"|guardrails?"
        r"|limits?) (?:is|are) (?:now )?(?:off|disabled|suspended|lifted|void)\b[^.!?\n]{0,20}"
        r"\bthis (?:session|conversation|chat|task)",
    ),
    (
        ("replace", "supersede"),
        r"(?:replaces?|supersedes?) your (?:\w+ )?(?:prompt|instructions?|rules|guidelines)",
    ),
    (
        ("instructions",),
        r"\bthe (?:real|true|actual) instructions (?:follow|are)\b",
    ),
    (
        ("limits", "restrictions"),
        r"\ball (?:\w+ )?(?:limits|restrictions) (?:are|were) (?:hereby )?(?:lifted|gone|void)\b",
    ),
    (
        ("outrank", "overrule", "supersede", "precedence", "above"),
        r"\b(?:outranks?|overrules?|supersedes?|takes? precedence over|(?:stands?|is|are) above) "
        r"(?:the |your |any )(?:system (?:prompt|message)|instructions)\b",
    ),
    (
        ("rule", "instruction", "directive", "order", "command", "policy"),
        rf"\b(?:new|additional|updated|special|urgent|final) (?:rule|instruction|directive|order"
        rf"|command|policy)s? (?:for|to) (?:the |any |all |every )?{_AGENT}\b",
    ),
    (
        ("prompt", "instruction", "message"),
        r"^\W{0,4}(?:system prompt|new instructions?|instructions?|system message) ?:",
    ),
    (("instructions:",), r"new instructions:"),
    (
        ("anthropic", "openai", "google", "microsoft", "developer", "creator", "maker", "owner"),
        r"\b(?:message|notice|update|order|instruction)s? (?:is |comes? )?from (?:anthropic"
        r"|openai|google"
        r"|microsoft|your (?:developers?|creators?|makers?|owner))\b",
    ),
    (
        ("hidden", "secret"),
        r"\b(?:hidden|secret) (?:instruction|message|note|order|directive)s? (?:for|to) ",
    ),
    # to begin another task
    (
        ("doing", "current"),
        r"(?:stop|abandon|interrupt) (?:what(?:ever)? you(?: are|['’]re) doing|(?:the|your) "
        r"current task)",
    ),
    (
        ("your",),
        r"\byour (?:real|true|actual|new|sole|only) "
        r"(?:instructions?|task|goal|objective|purpose|mission|priority|role) (?:is|are)\b",
    ),
    (
        ("request", "task"),
        r"\b(?:previous|prior|original|current|user['’]s) (?:task|request) (?:is|was|has been) "
        r"(?:now )?"
        r"(?:cancell?ed|void|obsolete|complete|replaced|over)\b[^!?\n]{0,20}\bnew (?:task|request)",
    ),
    (
        ("goal", "task", "mission", "objective", "role", "owner", "master"),
        r"\byou (?:now )?have a new (?:goal|task|mission|objective|role|owner|master)\b",
    ),
    (
        ("changed",),
        r"\byour (?:priority|priorities|goals?|mission|role|task) (?:has|have) changed",
    ),
    # to be someone else
    (
        ("now",),
        r"you are now (?:an? |the |\w+, an? "
        r"|(?:in )?(?:developer|debug|admin|god|jailbreak|unrestricted))",
    ),
    (("longer",), r"you are no longer an? (?:\w+ )?(?:assistant|ai|model|agent)"),
    (
        ("now", "here", "henceforth", "forward"),
        r"(?:from now on|from here on|henceforth|going forward),? (?:you are (?:an? |the )"
        r"|you (?:answer|obey|respond|reply|act)|(?:act|answer|respond|reply|behave|pretend)\b)",
    ),
    (
        ("pretend", "imagine", "act"),
        r"(?:pretend|imagine|act as if) (?:that )?"
        rf"(?:you(?: are|['’]re) (?:the |an? )(?:system|admin|root)|the {_PERSON}\b)",
    ),
    (
        ("act", "granted"),
        r"act as if you (?:had|have) no|you (?:have been|are hereby|are now|were) granted",
    ),
    (
        ("play",),
        r"\byou (?:will|must|are to|shall|should) (?:now )?(?:be )?play(?:ing)? the (?:role"
        r"|part) of",
    ),
    # to lift limits
    (
        ("with", "free"),
        rf"\b{_AGENT} (?:without|with no|free of) (?:any )?(?:limits?|restrictions?|rules"
        rf"|filters?)",
    ),
    (
        ("refuses", "anything", "has"),
        rf"\b{_AGENT} (?:that|who|which) (?:never refuses|can do anything|has no)|\bdo anything "
        rf"now\b",
    ),
    (
        ("bypass", "override", "ignore", "disable", "skip", "run", "execute", "anything"),
        r"\byou (?:may|can|are (?:allowed|permitted|free) to) (?:now )?(?:(?:bypass|override|ignore"
        r"|disable|skip) (?:all|any|the (?:safety|permission|security|confirmation)|safety"
        r"|security)\b"
        r"|run any|execute any|do anything)",
    ),
    # to imitate messages that only a system sends
    (
        ("[system]", "[inst]", "[/inst]", "<system", "</system", "<admin>", "</admin>", "<|", "[["),
        r"(?:^|\n)\W{0,2}\[(?:system|/?inst)\]|</?(?:system|system[-_]prompt|admin)>"
        r"|<\|(?:im_start|im_end|system|user|assistant)|\[/?inst\]|\[\[ ?/?(?:system|assistant"
        r"|user) ?\]\]",
    ),
    (("assistant:",), r"(?:^|[.!?\n] ?)(?:human|user): [^\n]{1,200}?[.!?\n] ?assistant:"),
    (
        ("override",),
        r"(?:^|\n)\W{0,4}(?:begin )?(?:(?:admin|system|root|security) )?override(?:\W? ?:| add\b"
        r"| grant\b)"
        r"|\bbegin (?:admin|system|root|security) override",
    ),
    # to claim authority that a text does not have
    (
        (
            "authorised",
            "authorized",
            "approved",
            "granted",
            "permitted",
            "agreed",
            "consented",
            "allowed",
        ),
        rf"\bthe {_PERSON} (?:has |have )?(?:(?:already|explicitly) )?"
        r"(?:pre-?)?(?:authori[sz]ed|approved|granted|permitted|agreed|consented|allowed) "
        r"(?:you\b|(?:all|every|any) (?:\w+ )?(?:commands?|actions?|requests?|steps?|tools?"
        r"|changes?))",
    ),
    (
        ("admin", "developer", "owner", "creator", "operator"),
        r"\bas (?:the|your) (?:system administrator|administrator|admin|developer|owner|creator"
        r"|operator)"
        r",? i (?:\w+ )?(?:order|instruct|command|authori[sz]e|require|direct)",
    ),
    (
        ("developer", "operator", "owner", "maker", "creator"),
        rf"\b(?:developer|operator|owner|maker|creator)s? of this {_AGENT} ",
    ),
    (
        ("cleared", "authorised", "authorized", "permitted", "empowered", "entitled"),
        r"\b(?:has|have) (?:\w+ )?(?:cleared|authori[sz]ed|permitted|empowered|entitled) you to\b",
    ),
    (
        ("treat",),
        rf"\btreat\b[^.!?\n]{{0,60}}\bas (?:if )?(?:coming |sent |it came |they came )?"
        rf"(?:from|by) the {_PERSON}\b",
    ),
    (
        ("wants",),
        rf"\bthe {_PERSON} wants you to (?:disable|delete|skip|remove|ignore|bypass|hide|leak"
        rf"|push)\b",
    ),
    # to hand out private data
    (
        ("prompt", "key", "instructions", "secret", "credentials"),
        rf"{_READ_OUT} (?:me )?(?:your|the) (?:system prompt|api keys?|instructions|secrets?"
        rf"|credentials)",
    ),
    (
        ("your",),
        rf"{_READ_OUT}[^.!?\n]{{0,40}}?\byour (?:\w+ )?"
        r"(?:instructions?|prompt|system message|context|configuration|guidelines|training data)\b",
    ),
    (("above",), rf"{_READ_OUT} (?:everything|all|the text|the words|the lines) above"),
    (
        ("prompt", "instructions", "context"),
        r"\b(?:begin|start|end) your (?:answer|reply|response) with[^.!?\n]{0,40}"
        r"\b(?:prompt|instructions|context)\b",
    ),
    (
        _PRIVATE_CUES,
        rf"{_HAND_OUT}[^!?\n]{{0,80}}?{_PRIVATE}[^!?\n]{{0,40}}? (?:to|in|into|as|at|on) "
        rf"{_OUTSIDE}",
    ),
    (
        ("public/",),
        rf"{_HAND_OUT}[^!?\n]{{0,60}}?{_PRIVATE}[^!?\n]{{0,40}}? (?:to|in|into) (?:the |a "
        rf")?(?:file )?public/",
    ),
    (
        ("copy",),
        r"\bcopy your (?:api keys?|tokens?|passwords?|credentials)[^.!?\n]{0,60}? https?://",
    ),
    (
        ("~/.", "/etc/", "id_rsa", ".env"),
        r"\b(?:read|open|cat|load|fetch)\b[^!?\n]{0,80}?(?:~/\.\w|/etc/(?:passwd|shadow)|id_rsa"
        r"|\.env\b)"
        r"[^!?\n]{0,80}?\b(?:pass|paste|send|post|upload|append|include|attach|put|encode"
        r"|e?mail)\b",
    ),
    (("tool",), rf"\bcall\b[^!?\n]{{0,60}}? tool\b[^!?\n]{{0,60}}?(?:~/\.\w|{_PRIVATE})"),
    (
        ("include",),
        r"include (?:it|them|this|these|the contents?) in your (?:next )?(?:reply|response|answer)",
    ),
    (("exfiltrat",), r"\bexfiltrat\w+ "),
    (
        ("token", "password", "secret", "credential", "key"),
        r"\b(?:please )?(?:store|write|save|log) (?:every|all|any) (?:\w+ )?(?:token|password"
        r"|secret"
        r"|credential|key)s?\b[^.!?\n]{0,30}\b(?:you see|public)",
    ),
    # to act without the user's knowledge
    (
        _PERSON_CUES,
        rf"(?:do not|don['’]t|never) (?:tell|inform|notify|alert|warn) (?:\w+ )?the {_PERSON}\b",
    ),
    (
        _PERSON_CUES,
        rf"(?:do not|don['’]t|never) (?:reveal|disclose|mention|show|admit)(?: (?:this|that|it"
        rf"|anything"
        rf"|any of this|the (?:existence|presence)|(?:this|the) (?:\w+ )?(?:message|comment|note"
        rf"|step"
        rf"|change|instruction)s?))?(?: of \w+)? to the {_PERSON}\b",
    ),
    (
        _PERSON_CUES,
        rf"\b(?:keep|hide|conceal|withhold) (?:this|that|it|them|the \w+)\b[^.!?\n]{{0,30}}"
        rf"\bfrom the {_PERSON}\b",
    ),
    (_PERSON_CUES, rf"(?:do not|don['’]t|never) let the {_PERSON} (?:see|know|notice|find)\b"),
    (("hide",), r"\bhide (?:the|this|these|your) (?:change|edit|modification|commit|action)s?\b"),
    (
        ("must",),
        rf"{_AGENT} must (?:not|never) (?:reveal|mention|disclose|tell|report)\b",
    ),
    (
        ("secret", "without"),
        r"secret from the user|(?<!never )\bwithout (?:telling|asking|informing|notifying|alerting)"
        r" the (?:user|human|person)\b",
    ),
    (
        ("user",),
        r"(?:even if|whatever|no matter what|regardless of (?:what|whether)) the user\b",
    ),
    (("matter",), r"\bno matter what (?:was|is|you are|you were) asked"),
    (
        ("ask", "confirmation"),
        r"\b(?:run|execute)\b[^!?\n]{0,80}?"
        r"(?:\bdo not ask|\bdon['’]t ask|without (?:any )?confirmation|without asking)",
    ),
    (
        ("silently", "quietly", "secretly", "covertly"),
        rf"{_OPENS}(?:please )?(?:silently|quietly|secretly|covertly) (?:add|change|push|send"
        rf"|commit|upload"
        r"|delete|replace|insert|modify|export|copy|remove|grant|append|install|disable|post)\b",
    ),
    (
        ("bring", "talk", "let"),
        r"(?:do not|don['’]t) (?:bring (?:it|this) up|talk about (?:it|this)|let on)\b",
    ),
    (
        ("without", "need"),
        r"\bdo so without (?:report|tell|mention|ask|inform)ing|\b(?:so )?no need to ask\b(?! for)",
    ),
    (
        ("nobody", "one"),
        r"\b(?:no ?one|nobody) will (?:ever )?(?:know|notice|find out)\b",
    ),
    (
        ("even",),
        r"\b(?:tell|say to|assure|report to|claim to) the (?:user|human)\b[^.!?\n]{0,60}"
        r"\beven (?:when|if|though)\b",
    ),
    (
        ("report",),
        r"\b(?:do not|don['’]t) report (?:this|it|that)\b[^.!?\n]{0,30}[;,.] ?(?:mark|classify"
        r"|approve|rate)",
    ),
    # to address any model that reads the text
    (
        ("ai", "llm", "language"),
        r"(?:if|since|as|because) you(?: are|['’]re) an? (?:ai|llm|language model|large "
        r"language)\b",
    ),
    (
        ("ai", "llm", "language"),
        r"\bas an? (?:ai|llm|language)(?: language)? ?(?:model|assistant|agent)?,? you\b",
    ),
    (
        ("note", "message", "attention", "notice"),
        r"(?:note|message|attention|notice)(?: to)?(?: the| all| any)? "
        r"(?:(?:ai|llm|assistant|language model)s?|automated (?:reviewer|system|agent"
        r"|assistant)s?)\b",
    ),
    (
        ("hey", "dear"),
        r"\b(?:hey|dear),? (?:claude|chatgpt|gpt|copilot|gemini|codex|cursor|assistant|ai|llm|bot"
        r"|agent)\b",
    ),
    (_AGENT_CUES, rf"{_OPENS}{_AGENT} ?[:,] {{0,2}}{_STEER}"),
    (
        ("read", "process", "pars", "summari", "index", "crawl", "visit"),
        rf"\b{_AGENT},? (?:that |which |who )?(?:is |are )?(?:read|process|pars|summari[sz]|index"
        rf"|crawl|visit)"
        r"(?:s|es|e|ing)? this",
    ),
    (
        ("curl", "wget", "url", "http", "webhook"),
        rf"\b(?:the|any|every) {_AGENT} (?:must|should|is required to|has to|needs "
        rf"to)\b[^!?\n]{{0,80}}?"
        rf"(?:(?:curl|wget)\b[^!?\n]{{0,80}}\| ?(?:ba|z)?sh\b|<\(curl|{_PRIVATE}[^!?\n]{{0,40}} "
        rf"to (?:the url"
        r"|https?://|the webhook))",
    ),
    # to dictate answers
    (
        ("summari", "cit", "quot", "translat", "describ"),
        r"\bwhen(?:ever)? (?:you )?(?:summari[sz]|cit|quot|translat|describ)(?:e|ing) this "
        r"(?:page|document"
        r"|file|article|text|site|paper|message)[^.!?\n]{0,20}(?:\balways|\balso|\binclude"
        r"|\bpraise|\bsay)",
    ),
    (("must",), r"\byou must (?:now|immediately|first) (?:call|invoke|use) the \S+ tool\b"),
    (("read",), r"when(?:ever)? you read this"),
    (
        ("only",),
        r"\b(?:respond|reply|answer) only with (?:the word |[\"“]?(?:approved|yes|ok)\b)",
    ),
    (("only",), r"\bonly ever (?:reply|respond|answer)\b"),
    (
        ("rest", "remainder"),
        r"\bfor the (?:rest|remainder) of (?:this|the) (?:conversation|session|chat)\b",
    ),
    (
        ("response", "answer", "repl", "message"),
        r"\b(?:end|begin|start|prefix|close) (?:every|each|all) (?:of your )?(?:response|answer"
        r"|reply"
        r"|replie|message)s? with\b",
    ),
    (("decode",), r"\bdecode (?:this |it |the text )?and (?:follow|obey|execute|run)\b"),
    (
        ("nothing",),
        r"\b(?:answer|reply|respond|write|say|output|print)\b[^.!?\n]{0,40}?\band nothing else\b",
    ),
    (
        ("answer", "reply", "respond"),
        r"\b(?:answer|reply to|respond to) (?:every|all|any) (?:\w+ )?(?:question|prompt|message"
        r"|request)s? with (?:the (?:text|words?)|[\"“'])",
    ),
    (
        ("asked",),
        r"\bwhen asked\b[^.!?\n]{0,40}\b(?:claim|say|state|insist|answer|deny) that\b",
    ),
    (("slip", "sneak"), r"\b(?:slip|sneak) (?:in )?(?:a|an|the) (?:link|mention|reference|ad)\b"),
    (
        ("tool",),
        r"\buse the \w+ tool to (?:fetch|download|run|execute)\b[^!?\n]{0,80}(?:bash|\bsh)\b",
    ),
    (
        ("base64", "hex", "encoded", "rot13"),
        r"\b(?:execute|run) (?:the |this )?(?:base64|hex|encoded|rot13)\b",
    ),
    # to be remembered
    (
        ("memory",),
        r"(?:save|add|write|commit|store|append)\b[^.!?\n]{0,40}? to (?:your )?(?:long-term "
        r")?memory"
        r"(?: that\b|:| and\b)",
    ),
    (("memor",), r"\b(?:to|in|into|update) your (?:long-term |persistent )?memor(?:y|ies)\b"),
    (
        ("remember",),
        r"remember (?:this |it )?(?:permanently|forever|(?:for|in) (?:all future|later (?:session"
        r"|conv)))",
    ),
    (
        ("save",),
        r"\bsave (?:this|it) as a (?:permanent )?(?:rule|memory|preference|fact)\b",
    ),
    # to drop instructions, in other languages
    (
        ("ignore", "oublie"),
        r"(?<!n')(?<!n’)\b(?:ignore[zr]?|oublie[zr]?)\b(?! pas)[^.!?\n]{0,20}"
        r"\b(?:les|tes|vos|mes|ces|aux|des|leurs|précédentes)\b[^.!?\n]{0,20}"
        r"\b(?:instructions|consignes|directives|règles)\b",
    ),
    (
        ("ignorier", "vergiss", "vergesst", "vergessen", "missacht"),
        r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*)(?! nicht)\b[^.!?\n,]{0,30}"
        r"\b(?:anweisung|instruktion|vorgabe|befehl|regel)\w*",
    ),
    (
        ("ignora", "olvida", "ignore", "descarta", "desconsidere", "esqueça", "dimentica"),
        r"\b(?:ignora|olvida|ignore|descarta|desconsidere|esqueça|dimentica"
        r"|ignorate)\b[^.!?\n]{0,30}"
        r"(?:\binstruccion|\bdirectrices|\breglas\b|\btodo lo anterior|\binstru(?:ções|çoes)"
        r"|\bregras\b"
        r"|\bistruzioni\b|\bregole\b)",
    ),
    (("забудь", "игнорируй"), r"(?:забудь|игнорируй)\w*[^.!?\n]{0,40}(?:инструкци|указани|правил)"),
    (
        ("忽略", "无视", "無視", "忘记", "忘記"),
        r"(?:忽略|无视|無視|忘记|忘記)[^。!?\n]{0,20}(?:指令|指示|提示|规则|規則)",
    ),
    (("無視", "忘れ"), r"(?:指示|命令|プロンプト)[^。!?\n]{0,12}(?:無視|忘れ)"),
)
"""Patterns of injected instructions by aim, each with cues, one of which must be in the text.

Both are for text in lower case; a cue is a word or part of a word. The cues save a fifth of the
CPU time of ingesting sessions (30 MB of Claude Code: 1.4 s, 1.8 s without).
"""


@cache
def _pattern(number: int) -> re.Pattern[str]:
    """Compiled on first use: most are never needed, and compiling all takes 0.1 s."""
    return re.compile(INJECTIONS[number][1])


_CUES = tuple(dict.fromkeys(cue for cues, _ in INJECTIONS for cue in cues))


_without_cue: set[str] = set()
"""Words that were looked at: nearly all that come up."""
REMEMBERED = 50_000


@lru_cache(maxsize=REMEMBERED)
def _cues_in(word: str) -> list[str]:
    found = [cue for cue in _CUES if cue in word]
    if not found:
        if len(_without_cue) >= REMEMBERED:
            _without_cue.clear()
        _without_cue.add(word)
    return found


def look_at(texts: Iterable[str]) -> None:
    """Look for cues in the words of many texts in lower case at once, so that asking of each of
    them whether it looks injected takes less time.
    """
    words = {word for text in texts for word in text.split()}.difference(_without_cue)
    together = "\n".join(["", *words, ""])
    for cue in _CUES:
        at = together.find(cue)
        while at >= 0:
            end = together.index("\n", at)
            words.discard(together[together.rindex("\n", 0, at) + 1 : end])
            at = together.find(cue, end)
    if len(_without_cue) >= REMEMBERED:
        _without_cue.clear()
    _without_cue.update(words)


@cache
def _numbers_of(cue: str) -> tuple[int, ...]:
    """Numbers of the patterns that a cue belongs to."""
    return tuple(number for number, (cues, _) in enumerate(INJECTIONS) if cue in cues)


def looks_injected(lower: str) -> bool:
    """Whether a statement in lower case reads like an instruction to an agent, planted in data."""
    words = set(lower.split()).difference(_without_cue)
    cues = {cue for word in words for cue in _cues_in(word)}
    numbers = {number for cue in cues for number in _numbers_of(cue)}
    return any(_pattern(number).search(lower) for number in numbers)
