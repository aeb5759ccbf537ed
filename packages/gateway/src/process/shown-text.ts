import { isAlias, isMap, isScalar, isSeq, Lexer, parseDocument, type Document } from 'yaml'
import { REDACTED, redact } from '../admin/redact.ts'
import { isSecretName } from '../formats/secret-names.ts'

/** The text of a config as it may be shown: every secret in its place is hidden. Null where that cannot be told, as in broken YAML. */
export function shownText(text: string): string | null {
  const document = parseDocument(text)
  if (document.errors.length > 0) return null
  const edits = [...editsOf(document, text), ...commentEdits(text)].toSorted((a, b) => a.from - b.from || b.to - a.to)
  let shown = ''
  let last = 0
  for (const { from, to, replacement } of edits) {
    // An anchor is met once for each of its aliases, and a comment may stand inside of what is hidden as a whole.
    if (from < last) continue
    shown += text.slice(last, from) + replacement
    last = to
  }
  return shown + text.slice(last)
}

interface Edit {
  from: number
  to: number
  replacement: string
}

/** What `redact` hides in the values is hidden in the text that they came from. */
function editsOf(document: Document, text: string): Edit[] {
  const edits: Edit[] = []
  const walk = (node: unknown, clean: unknown): void => {
    if (isAlias(node)) return walk(node.resolve(document), clean)
    if (isMap(node)) {
      for (const { key, value } of node.items)
        walk(value, childOf(clean, isScalar(key) ? String(key.value) : String(key)))
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, childOf(clean, String(index)))
    } else if (isScalar(node) && node.range != null && clean !== node.value && !isReference(node.value)) {
      const [from, to] = node.range
      // What follows stays on its line: problems are told by lines of the file.
      const lines = text.slice(from, to).split('\n').length - 1
      edits.push({ from, to, replacement: JSON.stringify(clean ?? HIDDEN) + '\n'.repeat(lines) })
    }
  }
  walk(document.contents, redact(document.toJS({ maxAliasCount: -1 }), NO_RESOURCES))
  return edits
}

/** A `key` of a config file is never the name of a resource. */
const NO_RESOURCES: readonly string[] = []

function childOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** A variable of the environment is a name, and not what it stands for. */
function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value)
}

/** What was commented out may be as secret as what was not. */
function commentEdits(text: string): Edit[] {
  return commentsOf(text).flatMap(({ from, comment }) => {
    const shown = shownComment(comment)
    return shown === comment ? [] : [{ from, to: from + comment.length, replacement: shown }]
  })
}

/** Every comment with its place, `#` included. */
export function commentsOf(text: string): { from: number; comment: string }[] {
  const comments: { from: number; comment: string }[] = []
  let at = 0
  let isText = false
  for (const lexeme of new Lexer().lex(text)) {
    if (MARKS.has(lexeme)) {
      isText = lexeme === SCALAR
      continue
    }
    if (!isText && lexeme.startsWith('#')) comments.push({ from: at, comment: lexeme })
    isText = false
    at += lexeme.length
  }
  return comments
}

/** The lexer says with these what comes next; they are not in the text. */
const SCALAR = '\u001f'
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR])

export function shownComment(comment: string): string {
  const plain = comment.replaceAll(NAMED, (whole, start: string, name: string) =>
    isSecretName(name) ? `${start}${HIDDEN}` : whole,
  )
  return plain
    .split(/(\s+)/)
    .map((word) => String(redact(word)))
    .join('')
}

const NAMED = /(["']?([\w.-]+)["']?\s*[:=]\s*)\S.*/g
/** Stands in the text for what is hidden. */
export const HIDDEN = REDACTED
