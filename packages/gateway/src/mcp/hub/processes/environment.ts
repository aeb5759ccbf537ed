import type { ProcessSpec } from '../../hub.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What a program finds in its environment. Keys that the gateway itself was given are not there unless the config says
 * so: whoever has the one that seals sessions can forge them.
 */
export function environmentFor(
  { env, clearEnv }: Pick<ProcessSpec, 'env' | 'clearEnv'>,
  own: Environment,
): Record<string, string> {
  const inherited = Object.entries(own).filter(([name]) => !clearEnv || KEPT.test(name))
  const found: Record<string, string> = {}
  for (const [name, value] of inherited) if (value !== undefined && !OWN.test(name)) found[name] = value
  const { SESSION_KEY: _, ...named } = env
  return { ...found, ...named }
}

/** Replaces what must not be seen in words of the program: its variables, its arguments, and secrets of the gateway. */
export function createConcealer(
  { env, args }: Pick<ProcessSpec, 'env' | 'args'>,
  own: Environment,
): (text: string) => string {
  const secrets = [...Object.values(env), ...args]
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && SECRET_NAME.test(name)) secrets.push(value)
  // The longest first: one may be a part of another.
  const hidden = [...new Set(secrets.filter((secret) => secret.length >= MIN_SECRET))].toSorted(
    (a, b) => b.length - a.length,
  )
  return (text) => hidden.reduce((left, secret) => left.replaceAll(secret, '***'), text)
}

/** Where things are, and how to speak: nothing of it is secret. */
const KEPT = /^(HOME|LANG|LANGUAGE|LC_[A-Z]+|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER)$/
const OWN = /^(SESSION_KEY|ADMIN_TOKEN|.*_API_KEY)$/
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i
/** Shorter ones would turn ordinary words into stars. */
const MIN_SECRET = 6
