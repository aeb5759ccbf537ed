import type { Field } from '../core/yaml-field.ts'

/** The variable of `os.environ/NAME`; null for other texts. */
export function variableOf(text: string): string | null {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1] ?? null
}

/** A secret as a literal, or in a variable. */
export type Secret = { readonly env: string } | { readonly literal: string }

export function secretOf(field: Field): Secret | null {
  const { text } = field
  if (text === null || text === '') return null
  const variable = variableOf(text)
  return variable === null ? { literal: text } : { env: variable }
}

/** An `auth` policy that sends a secret as the vendor expects it. */
export function authOf(secret: Secret): object {
  return 'env' in secret ? { secretRef: { env: secret.env } } : { key: secret.literal }
}
