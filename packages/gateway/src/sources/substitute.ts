/** Variables of the environment inside one scalar of the file; a value can never add structure to the document. */

export type Environment = Readonly<Record<string, string | undefined>>

type Substitution = { ok: true; text: string } | { ok: false; unset: string } | { ok: false; malformed: string }

const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|(\$\{[A-Za-z_][A-Za-z0-9_]*)/g

/** Replaces `${NAME}` and `${NAME:-default}`; `$${` stands for a literal `${`. An empty variable takes the default. */
export function substitute(text: string, env: Environment): Substitution {
  let unset: string | null = null
  let malformed: string | null = null
  const result = text.replace(reference, (whole: string, name?: string, fallback?: string, start?: string) => {
    if (start !== undefined) malformed ??= start
    if (name === undefined) return '${'
    const value = env[name]
    if (value !== undefined && (value !== '' || fallback === undefined)) return value
    if (fallback === undefined) unset ??= name
    return fallback ?? whole
  })
  if (malformed !== null) return { ok: false, malformed }
  return unset === null ? { ok: true, text: result } : { ok: false, unset }
}

/** The YAML value of a plain scalar, so that `port: ${PORT}` is a number. Empty text stays text. */
export function plainValue(text: string): string | number | boolean | null {
  if (/^(true|True|TRUE)$/.test(text)) return true
  if (/^(false|False|FALSE)$/.test(text)) return false
  if (/^(~|null|Null|NULL)$/.test(text)) return null
  if (/^[-+]?[0-9]+$/.test(text) || /^[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?$/.test(text)) return Number(text)
  return /^[-+]?[0-9]+[eE][-+]?[0-9]+$/.test(text) ? Number(text) : text
}
