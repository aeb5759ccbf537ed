// The rules of wording that a program can check: names of types, beginnings of comments and test titles, words with a
// better one in the glossary, American spelling in the docs.

/** Participles that do not end in "ed". "Cut", "Read" and "Set" are nouns too, so they are left out. */
const IRREGULAR =
  /^(Begun|Bound|Brought|Built|Caught|Chosen|Done|Drawn|Driven|Fed|Forgotten|Found|Given|Gone|Heard|Held|Hidden|Kept|Known|Laid|Left|Lost|Made|Meant|Met|Paid|Said|Seen|Sent|Shown|Sold|Sought|Spent|Spoken|Sworn|Taken|Thrown|Told|Torn|Understood|Unread|Unput|Written)$/
const REGULAR = /^[A-Z][a-z]+ed$/
const NOUNS_IN_ED = /^(Bed|Deed|Embed|Feed|Need|Seed|Shed|Speed|Thread)$/

const TYPE_NAME = /^\s*(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?(?:type|interface|class)\s+([A-Z]\w*)/
const TITLE = /^\s*(?:await\s+)?(?:\w+\.)?(?:test|it|describe|suite)\(\s*(['"`])(.*?)\1/
const BEGINNING = /^(of|what|who|whom|whose|where|for whoever)\s/i

/** Words of our own, each with its word of the field. Ambiguous words are not listed. */
const GLOSSARY = [
  [/\bservers? of limits\b/i, 'rate limit service'],
  [/\bservers? for operators\b/i, 'admin server'],
  [/\bservers? of tools\b/i, 'MCP servers'],
  [/\bcould not be asked\b/i, 'the name of the call that failed, such as "ext_authz call failed"'],
  [/\bcannot be asked\b/i, 'the name of the call that failed, such as "ext_authz call failed"'],
  [/\bwho(ever)? is asked\b/i, 'the name of the service'],
  [/\bspecimens?\b/i, 'keepalive object'],
  [/\bsecond look\b/i, 'retry'],
  [/\bparted by\b/i, 'separated by'],
  [/\bgoes elsewhere\b/i, 'fails over'],
]

const SPELLING = new Map([
  ['analyse', 'analyze'],
  ['artefact', 'artifact'],
  ['authorise', 'authorize'],
  ['behaviour', 'behavior'],
  ['cancelled', 'canceled'],
  ['cancelling', 'canceling'],
  ['catalogue', 'catalog'],
  ['centre', 'center'],
  ['colour', 'color'],
  ['customise', 'customize'],
  ['defence', 'defense'],
  ['dialled', 'dialed'],
  ['dialling', 'dialing'],
  ['favour', 'favor'],
  ['grey', 'gray'],
  ['honour', 'honor'],
  ['initialise', 'initialize'],
  ['judgement', 'judgment'],
  ['labelled', 'labeled'],
  ['licence', 'license'],
  ['minimise', 'minimize'],
  ['modelled', 'modeled'],
  ['modelling', 'modeling'],
  ['neighbour', 'neighbor'],
  ['normalise', 'normalize'],
  ['optimis', 'optimiz'],
  ['organis', 'organiz'],
  ['prioritise', 'prioritize'],
  ['recognise', 'recognize'],
  ['serialis', 'serializ'],
  ['summaris', 'summariz'],
  ['synchronis', 'synchroniz'],
  ['tokenis', 'tokeniz'],
  ['travelling', 'traveling'],
  ['utilis', 'utiliz'],
  ['visualis', 'visualiz'],
  ['whilst', 'while'],
])
const SPELLED = new RegExp(`\\b(?:un|re|de)?(${[...SPELLING.keys()].join('|')})\\w*`, 'gi')

const KINDS = [
  { files: /\.md$/, find: inDocs },
  { files: /\.(ts|tsx|mjs|mts|cjs|js)$/, find: inCode },
  { files: /\.(ya?ml|sh|tpl)$|(^|\/)(Dockerfile|\.ci\/run)$/, find: inSettings },
]

/** The function that lists the findings of a file as `{ line, text }`, or undefined for files without rules. */
export function finderFor(path) {
  return KINDS.find(({ files }) => files.test(path))?.find
}

function inSettings(text) {
  return inComments(commentsIn(text, /^\s*(?:#|\{\{-?\s*\/\*)\s*(.*)$/))
}

function inCode(text) {
  const findings = inComments(commentsIn(text, /^\s*(?:\/\/|\/\*\*?|\*(?!\/))\s?(.*?)\s*(?:\*\/)?$/))
  text.split('\n').forEach((content, index) => {
    const line = index + 1
    const name = TYPE_NAME.exec(content)?.[1] ?? ''
    if (isParticiple(name)) findings.push({ line, text: `type ${name} is a participle; name the thing` })
    const title = TITLE.exec(content)?.[2] ?? ''
    if (BEGINNING.test(title) && !title.endsWith('?'))
      findings.push({ line, text: `title begins "${firstWords(title)}"` })
    for (const [word, better] of GLOSSARY) {
      const found = word.exec(content)?.[0]
      if (found !== undefined) findings.push({ line, text: `"${found}": say ${better}` })
    }
  })
  return findings
}

/** Whether a type is named by a participle alone: `Shown`, `Attached`; not `ShownRow`. */
export function isParticiple(name) {
  return IRREGULAR.test(name) || (REGULAR.test(name) && !NOUNS_IN_ED.test(name))
}

/** Comment blocks as `{ line, text }`: neighboring lines of comments are one block. */
function commentsIn(text, pattern) {
  const blocks = []
  let isOpen = false
  text.split('\n').forEach((content, index) => {
    const comment = pattern.exec(content)?.[1]
    if (comment === undefined) return void (isOpen = false)
    const begins = !isOpen || /^\s*\/\*/.test(content)
    if (begins) blocks.push({ line: index + 1, text: comment })
    else blocks.at(-1).text += ` ${comment}`
    isOpen = !/\*\/\s*$/.test(content)
  })
  return blocks
}

function inComments(blocks) {
  const findings = []
  for (const { line, text } of blocks)
    for (const sentence of text.trim().split(/(?<=[.!?])\s+(?=[A-Z])/))
      if (BEGINNING.test(sentence) && !sentence.endsWith('?'))
        findings.push({ line, text: `comment begins "${firstWords(sentence)}"` })
  return findings
}

function inDocs(text) {
  const findings = []
  let fence = null
  text.split('\n').forEach((content, index) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(content)?.[1]
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null
    if (fence !== null || mark !== undefined) return
    const prose = content.replaceAll(/`[^`]*`|\]\([^)]*\)|https?:\S+/g, ' ')
    for (const [word, british] of prose.matchAll(SPELLED))
      findings.push({
        line: index + 1,
        text: `"${word}" is not American spelling: ${SPELLING.get(british.toLowerCase())}…`,
      })
  })
  return findings
}

function firstWords(text) {
  return text.split(/\s+/).slice(0, 4).join(' ')
}
