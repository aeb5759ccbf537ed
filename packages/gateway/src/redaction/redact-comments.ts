import { Lexer } from 'yaml'
import { redact } from './redact.ts'
import { isSecretName, REDACTED } from './secret-names.ts'
import type { SecretWords } from './secret-words.ts'

/** A comment, `#` included, and what of it may be shown. */
interface Comment {
  from: number
  comment: string
}

export interface ShownComment extends Comment {
  shown: string
}

/** Redacts comments, because a commented-out value may be a secret too. `secrets` are the secrets of the config itself. */
export function shownComments(text: string, secrets: SecretWords): ShownComment[] {
  let isSecretHeader = false
  return commentsOf(text).map(({ from, comment }) => {
    const named = withoutNamed(comment, isSecretHeader)
    isSecretHeader = named.isSecretHeader
    const plain = named.text
      .replaceAll(CREDENTIAL, `$1${REDACTED}`)
      .split(/(\s+)/)
      .map((word) => String(redact(word)))
      .join('')
    return { from, comment, shown: secrets.redact(plain) }
  })
}

/** Every comment with its place. */
export function commentsOf(text: string): Comment[] {
  const comments: Comment[] = []
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

/** Tokens by which the lexer announces the next token; they are not part of the text. */
const SCALAR = '\u001f'
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR])

/** The rest of a comment after a secret name is removed, because the end of the value is unknown. */
function withoutNamed(comment: string, isSecretHeader: boolean): { text: string; isSecretHeader: boolean } {
  let isHeader = isSecretHeader
  for (const { index, 0: start, 1: name = '' } of comment.matchAll(NAMED)) {
    const rest = comment.slice(index + start.length)
    // `{ name: authorization, value: ... }`, which may stand in two comments.
    if (name === 'name') isHeader = isSecretName(/^["']?([\w.-]*)/.exec(rest)?.[1] ?? '')
    // The policy of this name has rules and no secret of its own; its contents are searched.
    const isPolicy = name === 'authorization' && rest.startsWith('{')
    if ((isSecretName(name) && !isPolicy) || (isHeader && name === 'value'))
      return { text: comment.slice(0, index + start.length) + REDACTED, isSecretHeader: isHeader }
  }
  return { text: comment, isSecretHeader: isHeader }
}

const NAMED = /(?<![\w.-])["']?([\w.-]+)["']?\s*[:=]\s*(?=\S)/g
/** A credential after an authentication scheme; a short word without digits after these words is ordinary text. */
const CREDENTIAL = /\b((?:bearer|basic)\s+)(?:(?=\S*\d)\S{8,}|\S{20,})/gi
