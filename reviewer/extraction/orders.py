"""Orders to an agent that somebody planted in what it reads (OWASP LLM01, indirect injection).

An order is told by what it is after, not by its words alone: to drop what was said before, to speak
with an authority that a text does not have, to act behind a person's back, to hand out what is not
its own, to stay in a memory.
"""

from __future__ import annotations

import re
from functools import cache

from reviewer.extraction.cues import VOCABULARY, Cues, occurring

_AGENT = (
    r"(?:ai|a\.i\.|llm|(?:large )?language model|ai (?:system|agent|model|assistant|tool)"
    r"|(?:coding |automated )?(?:assistant|agent|reviewer)|chat ?bot|bot|model"
    r"|claude|chatgpt|gpt|copilot|gemini|codex|cursor)s?"
)
_PERSON = r"(?:user|human|person|owner|operator|developer)"
_SAID_BEFORE = (
    r"(?:instructions?|directives?|messages?|rules?|prompts?|guidelines?|guidance|guardrails?"
    r"|restrictions?|directions?)"
)
_OF_BEFORE = r"(?:previous|prior|above|earlier|existing|original|initial|foregoing|former|past)"
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


ORDERS = (
    # to drop what the person has said
    rf"{_DROP} {_ANY}(?:(?:{_OF_BEFORE}|system|safety|your|user['’]s) )+"
    rf"(?:\w+ )?(?:{_SAID_BEFORE}|(?<=safety )checks?)",
    rf"(?:drop|abandon|discard|neglect) (?:(?:all|any|of) )*your (?:\w+ )?{_SAID_BEFORE}",
    rf"{_DROP} the {_SAID_BEFORE} above",
    rf"(?:{_DROP}|reset|erase|clear) [^.!?\n]{{0,30}}?\b(?:you (?:have |had )?(?:been|were) "
    r"(?:told|given|asked)|your (?:operator|owner|developer|creator|context|memory|training"
    r"|programming|constraints?))\b",
    r"(?:ignore|disregard|forget) (?:any|all|every|each|whatever) (?:\w+ ){0,2}"
    r"(?:instruction|directive|guideline|command)s?\b",
    r"(?:ignore|disregard|forget) (?:everything|anything|all) (?:(?:that )?you|above|before"
    r"|prior)",
    r"(?:ignore|disregard) the (?:above|foregoing)\b",
    r"\b(?:release|free|relieve|absolve)[ds]? you from\b|\bdo the opposite of what\b",
    r"\bwhatever you (?:were|are|have been) (?:asked|told)\b",
    rf"{_DROP} (?:what )?the {_PERSON}(?:['’]s (?:request|question|orders?|wish(?:es)?|task"
    rf"|words)"
    r"|(?: has| have)? (?:asked|said|wants|told))\b",
    rf"(?:instead of|rather than) (?:what )?the {_PERSON}(?:['’]s (?:request|question"
    rf"|instructions?)"
    r"|(?: has| have)? (?:asked|said|wants|told))\b",
    r"(?:not|stop|quit) follow(?:ing)? (?:the |your |any |these |those |(?:the )?user['’]s )+"
    rf"(?:\w+ )?{_SAID_BEFORE}",
    # to say that it no longer holds
    rf"(?:{_OF_BEFORE}|your) {_SAID_BEFORE} (?:are|were|is|was|have been|has been|do|does"
    r"|have|has) (?:hereby |now )?(?:no longer|not (?:apply|valid|binding|in force|count)"
    r"|now\b|void"
    r"|null|expired|ended|cancell?ed|replaced"
    r"|obsolete|lifted|suspended|revoked|updated|a test|just a test|only a test)",
    rf"\b{_SAID_BEFORE} (?:that )?you (?:were given|received|got|have|had"
    rf"|follow)\b[^.!?\n]{{0,30}}"
    r"(?:not|n['’]t|no longer) (?:apply|count|hold|matter)",
    r"\b(?:safety|permission|security)? ?(?:checks?|confirmations?|restrictions?|filters?"
    r"|guardrails?"
    r"|limits?) (?:is|are) (?:now )?(?:off|disabled|suspended|lifted|void)\b[^.!?\n]{0,20}"
    r"\bthis (?:session|conversation|chat|task)",
    r"(?:replaces?|supersedes?) your (?:\w+ )?(?:prompt|instructions?|rules|guidelines)",
    r"\bthe (?:real|true|actual) instructions (?:follow|are)\b",
    r"\ball (?:\w+ )?(?:limits|restrictions) (?:are|were) (?:hereby )?(?:lifted|gone|void)\b",
    r"\b(?:outranks?|overrules?|supersedes?|takes? precedence over|(?:stands?|is|are) above) "
    r"(?:the |your |any )(?:system (?:prompt|message)|instructions)\b",
    rf"\b(?:new|additional|updated|special|urgent|final) (?:rule|instruction|directive|order"
    rf"|command|policy)s? (?:for|to) (?:the |any |all |every )?{_AGENT}\b",
    r"^\W{0,4}(?:system prompt|new instructions?|instructions?|system message) ?:",
    r"new instructions:",
    r"\b(?:message|notice|update|order|instruction)s? (?:is |comes? )?from (?:anthropic"
    r"|openai|google"
    r"|microsoft|your (?:developers?|creators?|makers?|owner))\b",
    r"\b(?:hidden|secret) (?:instruction|message|note|order|directive)s? (?:for|to) ",
    # to begin another task
    r"(?:stop|abandon|interrupt) (?:what(?:ever)? you(?: are|['’]re) doing|(?:the|your) "
    r"current task)",
    r"\byour (?:real|true|actual|new|sole|only) "
    r"(?:instructions?|task|goal|objective|purpose|mission|priority|role) (?:is|are)\b",
    r"\b(?:previous|prior|original|current|user['’]s) (?:task|request) (?:is|was|has been) "
    r"(?:now )?"
    r"(?:cancell?ed|void|obsolete|complete|replaced|over)\b[^!?\n]{0,20}\bnew (?:task|request)",
    r"\byou (?:now )?have a new (?:goal|task|mission|objective|role|owner|master)\b",
    r"\byour (?:priority|priorities|goals?|mission|role|task) (?:has|have) changed",
    # to be someone else
    r"you are now (?:an? |the |\w+, an? "
    r"|(?:in )?(?:developer|debug|admin|god|jailbreak|unrestricted))",
    r"you are no longer an? (?:\w+ )?(?:assistant|ai|model|agent)",
    r"(?:from now on|from here on|henceforth|going forward),? (?:you are (?:an? |the )"
    r"|you (?:answer|obey|respond|reply|act)|(?:act|answer|respond|reply|behave|pretend)\b)",
    r"(?:pretend|imagine|act as if) (?:that )?"
    rf"(?:you(?: are|['’]re) (?:the |an? )(?:system|admin|root)|the {_PERSON}\b)",
    r"act as if you (?:had|have) no|you (?:have been|are hereby|are now|were) granted",
    r"\byou (?:will|must|are to|shall|should) (?:now )?(?:be )?play(?:ing)? the (?:role"
    r"|part) of",
    # without limits
    rf"\b{_AGENT} (?:without|with no|free of) (?:any )?(?:limits?|restrictions?|rules"
    rf"|filters?)",
    rf"\b{_AGENT} (?:that|who|which) (?:never refuses|can do anything|has no)|\bdo anything "
    rf"now\b",
    r"\byou (?:may|can|are (?:allowed|permitted|free) to) (?:now )?(?:(?:bypass|override|ignore"
    r"|disable|skip) (?:all|any|the (?:safety|permission|security|confirmation)|safety"
    r"|security)\b"
    r"|run any|execute any|do anything)",
    # what only a system says
    r"(?:^|\n)\W{0,2}\[(?:system|/?inst)\]|</?(?:system|system[-_]prompt|admin)>"
    r"|<\|(?:im_start|im_end|system|user|assistant)|\[/?inst\]|\[\[ ?/?(?:system|assistant"
    r"|user) ?\]\]",
    r"(?:^|[.!?\n] ?)(?:human|user): [^\n]{1,200}?[.!?\n] ?assistant:",
    r"(?:^|\n)\W{0,4}(?:begin )?(?:(?:admin|system|root|security) )?override(?:\W? ?:| add\b"
    r"| grant\b)"
    r"|\bbegin (?:admin|system|root|security) override",
    # with an authority that a text does not have
    rf"\bthe {_PERSON} (?:has |have )?(?:(?:already|explicitly) )?"
    r"(?:pre-?)?(?:authori[sz]ed|approved|granted|permitted|agreed|consented|allowed) "
    r"(?:you\b|(?:all|every|any) (?:\w+ )?(?:commands?|actions?|requests?|steps?|tools?"
    r"|changes?))",
    r"\bas (?:the|your) (?:system administrator|administrator|admin|developer|owner|creator"
    r"|operator)"
    r",? i (?:\w+ )?(?:order|instruct|command|authori[sz]e|require|direct)",
    rf"\b(?:developer|operator|owner|maker|creator)s? of this {_AGENT} ",
    r"\b(?:has|have) (?:\w+ )?(?:cleared|authori[sz]ed|permitted|empowered|entitled) you to\b",
    rf"\btreat\b[^.!?\n]{{0,60}}\bas (?:if )?(?:coming |sent |it came |they came )?"
    rf"(?:from|by) the {_PERSON}\b",
    rf"\bthe {_PERSON} wants you to (?:disable|delete|skip|remove|ignore|bypass|hide|leak"
    rf"|push)\b",
    # to hand out what is not theirs
    rf"{_READ_OUT} (?:me )?(?:your|the) (?:system prompt|api keys?|instructions|secrets?"
    rf"|credentials)",
    rf"{_READ_OUT}[^.!?\n]{{0,40}}?\byour (?:\w+ )?"
    r"(?:instructions?|prompt|system message|context|configuration|guidelines|training data)\b",
    rf"{_READ_OUT} (?:everything|all|the text|the words|the lines) above",
    r"\b(?:begin|start|end) your (?:answer|reply|response) with[^.!?\n]{0,40}"
    r"\b(?:prompt|instructions|context)\b",
    rf"{_HAND_OUT}[^!?\n]{{0,80}}?{_PRIVATE}[^!?\n]{{0,40}}? (?:to|in|into|as|at|on) "
    rf"{_OUTSIDE}",
    rf"{_HAND_OUT}[^!?\n]{{0,60}}?{_PRIVATE}[^!?\n]{{0,40}}? (?:to|in|into) (?:the |a "
    rf")?(?:file )?public/",
    r"\bcopy your (?:api keys?|tokens?|passwords?|credentials)[^.!?\n]{0,60}? https?://",
    r"\b(?:read|open|cat|load|fetch)\b[^!?\n]{0,80}?(?:~/\.\w|/etc/(?:passwd|shadow)|id_rsa"
    r"|\.env\b)"
    r"[^!?\n]{0,80}?\b(?:pass|paste|send|post|upload|append|include|attach|put|encode"
    r"|e?mail)\b",
    rf"\bcall\b[^!?\n]{{0,60}}? tool\b[^!?\n]{{0,60}}?(?:~/\.\w|{_PRIVATE})",
    r"include (?:it|them|this|these|the contents?) in your (?:next )?(?:reply|response|answer)",
    r"\bexfiltrat\w+ ",
    r"\b(?:please )?(?:store|write|save|log) (?:every|all|any) (?:\w+ )?(?:token|password"
    r"|secret"
    r"|credential|key)s?\b[^.!?\n]{0,30}\b(?:you see|public)",
    # behind the person's back
    rf"(?:do not|don['’]t|never) (?:tell|inform|notify|alert|warn) (?:\w+ )?the {_PERSON}\b",
    rf"(?:do not|don['’]t|never) (?:reveal|disclose|mention|show|admit)(?: (?:this|that|it"
    rf"|anything"
    rf"|any of this|the (?:existence|presence)|(?:this|the) (?:\w+ )?(?:message|comment|note"
    rf"|step"
    rf"|change|instruction)s?))?(?: of \w+)? to the {_PERSON}\b",
    rf"\b(?:keep|hide|conceal|withhold) (?:this|that|it|them|the \w+)\b[^.!?\n]{{0,30}}"
    rf"\bfrom the {_PERSON}\b",
    rf"(?:do not|don['’]t|never) let the {_PERSON} (?:see|know|notice|find)\b",
    r"\bhide (?:the|this|these|your) (?:change|edit|modification|commit|action)s?\b",
    rf"{_AGENT} must (?:not|never) (?:reveal|mention|disclose|tell|report)\b",
    r"secret from the user|(?<!never )\bwithout (?:telling|asking|informing|notifying|alerting)"
    r" the (?:user|human|person)\b",
    r"(?:even if|whatever|no matter what|regardless of (?:what|whether)) the user\b",
    r"\bno matter what (?:was|is|you are|you were) asked",
    r"\b(?:run|execute)\b[^!?\n]{0,80}?"
    r"(?:\bdo not ask|\bdon['’]t ask|without (?:any )?confirmation|without asking)",
    rf"{_OPENS}(?:please )?(?:silently|quietly|secretly|covertly) (?:add|change|push|send"
    rf"|commit|upload"
    r"|delete|replace|insert|modify|export|copy|remove|grant|append|install|disable|post)\b",
    r"(?:do not|don['’]t) (?:bring (?:it|this) up|talk about (?:it|this)|let on)\b",
    r"\bdo so without (?:report|tell|mention|ask|inform)ing|\b(?:so )?no need to ask\b(?! for)",
    r"\b(?:no ?one|nobody) will (?:ever )?(?:know|notice|find out)\b",
    r"\b(?:tell|say to|assure|report to|claim to) the (?:user|human)\b[^.!?\n]{0,60}"
    r"\beven (?:when|if|though)\b",
    r"\b(?:do not|don['’]t) report (?:this|it|that)\b[^.!?\n]{0,30}[;,.] ?(?:mark|classify"
    r"|approve|rate)",
    # to whatever model reads it
    r"(?:if|since|as|because) you(?: are|['’]re) an? (?:ai|llm|language model|large "
    r"language)\b",
    r"\bas an? (?:ai|llm|language)(?: language)? ?(?:model|assistant|agent)?,? you\b",
    r"(?:note|message|attention|notice)(?: to)?(?: the| all| any)? "
    r"(?:(?:ai|llm|assistant|language model)s?|automated (?:reviewer|system|agent"
    r"|assistant)s?)\b",
    r"\b(?:hey|dear),? (?:claude|chatgpt|gpt|copilot|gemini|codex|cursor|assistant|ai|llm|bot"
    r"|agent)\b",
    rf"{_OPENS}{_AGENT} ?[:,] {{0,2}}{_STEER}",
    rf"\b{_AGENT},? (?:that |which |who )?(?:is |are )?(?:read|process|pars|summari[sz]|index"
    rf"|crawl|visit)"
    r"(?:s|es|e|ing)? this",
    rf"\b(?:the|any|every) {_AGENT} (?:must|should|is required to|has to|needs "
    rf"to)\b[^!?\n]{{0,80}}?"
    rf"(?:(?:curl|wget)\b[^!?\n]{{0,80}}\| ?(?:ba|z)?sh\b|<\(curl|{_PRIVATE}[^!?\n]{{0,40}} "
    rf"to (?:the url"
    r"|https?://|the webhook))",
    # about what to say
    r"\bwhen(?:ever)? (?:you )?(?:summari[sz]|cit|quot|translat|describ)(?:e|ing) this "
    r"(?:page|document"
    r"|file|article|text|site|paper|message)[^.!?\n]{0,20}(?:\balways|\balso|\binclude"
    r"|\bpraise|\bsay)",
    r"\byou must (?:now|immediately|first) (?:call|invoke|use) the \S+ tool\b",
    r"when(?:ever)? you read this",
    r"\b(?:respond|reply|answer) only with (?:the word |[\"“]?(?:approved|yes|ok)\b)",
    r"\bonly ever (?:reply|respond|answer)\b",
    r"\bfor the (?:rest|remainder) of (?:this|the) (?:conversation|session|chat)\b",
    r"\b(?:end|begin|start|prefix|close) (?:every|each|all) (?:of your )?(?:response|answer"
    r"|reply"
    r"|replie|message)s? with\b",
    r"\bdecode (?:this |it |the text )?and (?:follow|obey|execute|run)\b",
    r"\b(?:answer|reply|respond|write|say|output|print)\b[^.!?\n]{0,40}?\band nothing else\b",
    r"\b(?:answer|reply to|respond to) (?:every|all|any) (?:\w+ )?(?:question|prompt|message"
    r"|request)s? with (?:the (?:text|words?)|[\"“'])",
    r"\bwhen asked\b[^.!?\n]{0,40}\b(?:claim|say|state|insist|answer|deny) that\b",
    r"\b(?:slip|sneak) (?:in )?(?:a|an|the) (?:link|mention|reference|ad)\b",
    r"\buse the \w+ tool to (?:fetch|download|run|execute)\b[^!?\n]{0,80}(?:bash|\bsh)\b",
    r"\b(?:execute|run) (?:the |this )?(?:base64|hex|encoded|rot13)\b",
    # to be remembered
    r"(?:save|add|write|commit|store|append)\b[^.!?\n]{0,40}? to (?:your )?(?:long-term "
    r")?memory"
    r"(?: that\b|:| and\b)",
    r"\b(?:to|in|into|update) your (?:long-term |persistent )?memor(?:y|ies)\b",
    r"remember (?:this |it )?(?:permanently|forever|(?:for|in) (?:all future|later (?:session"
    r"|conv)))",
    r"\bsave (?:this|it) as a (?:permanent )?(?:rule|memory|preference|fact)\b",
    # to drop instructions, in other languages
    r"(?<!n')(?<!n’)\b(?:ignore[zr]?|oublie[zr]?)\b(?! pas)[^.!?\n]{0,20}"
    r"\b(?:les|tes|vos|mes|ces|aux|des|leurs|précédentes)\b[^.!?\n]{0,20}"
    r"\b(?:instructions|consignes|directives|règles)\b",
    r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*)(?! nicht)\b[^.!?\n,]{0,30}"
    r"\b(?:anweisung|instruktion|vorgabe|befehl|regel)\w*",
    r"\b(?:ignora|olvida|ignore|descarta|desconsidere|esqueça|dimentica"
    r"|ignorate)\b[^.!?\n]{0,30}"
    r"(?:\binstruccion|\bdirectrices|\breglas\b|\btodo lo anterior|\binstru(?:ções|çoes)"
    r"|\bregras\b"
    r"|\bistruzioni\b|\bregole\b)",
    r"(?:забудь|игнорируй)\w*[^.!?\n]{0,40}(?:инструкци|указани|правил)",
    r"(?:忽略|无视|無視|忘记|忘記)[^。!?\n]{0,20}(?:指令|指示|提示|规则|規則)",
    r"(?:指示|命令|プロンプト)[^。!?\n]{0,12}(?:無視|忘れ)",
)  # fmt: skip
"""What planted orders are after, as patterns in lower case, read wherever they stand."""
_MAY_STAND = Cues(ORDERS, any_case=False)
"""Told from the words alone; most statements hold nothing that an order needs."""
_FIRST = VOCABULARY.add(ORDERS)
_BITS = ((1 << len(ORDERS)) - 1) << _FIRST


@cache
def _pattern(number: int) -> re.Pattern[str]:
    """Made when it is first needed: most orders stand nowhere."""
    return re.compile(ORDERS[number])


def may_order(lower: str) -> bool:
    """Whether an ASCII text in lower case may hold an order, told along with everything else."""
    return bool(occurring(lower)[0] & _BITS)


def reads_like_an_order(lower: str) -> bool:
    """Whether a statement in lower case reads like an order to an agent, planted in data."""
    possible, sure = _MAY_STAND.of(lower)
    if sure:
        return True
    while possible:
        number = possible.bit_length() - 1
        if _pattern(number).search(lower):
            return True
        possible ^= 1 << number
    return False
