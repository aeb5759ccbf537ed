import type { ProcessSpec } from '../../hub.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the environment of a program. The gateway's own secrets are not inherited unless the config names them; the
 * session key is never passed on, because it can forge sessions.
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

/** Returns a function that redacts the program's variables and arguments, and the gateway's secrets, in a text. */
export function createConcealer(
  { env, args }: Pick<ProcessSpec, 'env' | 'args'>,
  own: Environment,
): (text: string) => string {
  const secrets = [...Object.values(env), ...args]
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && SECRET_NAME.test(name)) secrets.push(value)
  // The longest first, because a secret may contain another one.
  const hidden = [...new Set(secrets.filter((secret) => secret.length >= MIN_SECRET))].toSorted(
    (a, b) => b.length - a.length,
  )
  return (text) => hidden.reduce((left, secret) => left.replaceAll(secret, '***'), text)
}

/** The variables that `clearEnv` keeps: paths, user and locale, which are not secret. */
const KEPT = /^(HOME|LANG|LANGUAGE|LC_[A-Z]+|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER)$/
const OWN = /^(SESSION_KEY|ADMIN_TOKEN|.*_API_KEY)$/
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i
/** Shorter values are not redacted, because they also occur in ordinary words. */
const MIN_SECRET = 6
