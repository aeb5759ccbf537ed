import { REDACTED } from './secret-names.ts'

export interface BodyRedaction {
  readonly isSecret: (name: string) => boolean
  readonly text: (text: string) => string
}

/**
 * `redactBody` redacts the text of a body: first by the names of members, in JSON that may break off anywhere or stand in
 * events, then by the form of its words.
 */
export function redactBody(text: string, isForm: boolean, { isSecret, text: redactText }: BodyRedaction): string {
  if (isForm) return redactText(`?${text}`).slice(1)
  const named = text.replaceAll(MEMBER, (member, name: string, space: string) =>
    isSecret(name) ? `"${name}"${space}"${REDACTED}"` : member,
  )
  return named
    .split(/(?<=\n)/)
    .map((line) => redactText(line))
    .join('')
}

/** A member whose value is a string or a number; a value that breaks off ends with the text. */
const MEMBER = /"((?:[^"\\]|\\.)*)"(\s*:\s*)(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|-?\d[\d.eE+-]*)/g
