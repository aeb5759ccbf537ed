import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { ProcessConfig } from '../../sources/config/schema.ts'

interface SessionKeyOptions {
  environment: Readonly<Record<string, string | undefined>>
  /** Absolute path of `config.session.keyFile`; null when the config names none. */
  keyFile: string | null
  warn: (message: string) => void
}

/**
 * The keys that encrypt ids of sessions, files and batches, newest first, or the problem with them. Replicas with the same
 * key share sessions.
 */
export type SessionKeys = { keys: string[] } | { problem: string }

/** Reads the keys from the environment, from the configured file, or from a file that is created on first use. */
export function loadSessionKeys({ environment, keyFile, warn }: SessionKeyOptions): SessionKeys {
  const path = keyFile ?? defaultFile(environment)
  try {
    const known = knownKeys({ environment, keyFile })
    if (known !== null) return known
  } catch (error) {
    return passingKey(path, error, warn)
  }
  const key = randomBytes(32).toString('hex')
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    // Two gateways may start at once: the key that was written first is used.
    writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(path, 0o600)
    return { keys: [key] }
  } catch (error) {
    if (isTaken(error)) return readKeys(readFileSync(path, 'utf8'), path)
    if (keyFile !== null) return { problem: `${path}: the session key cannot be written: ${messageOf(error)}` }
    return passingKey(path, error, warn)
  }
}

/** The path of the key file, relative to the config file at `config`; null when none is configured. */
export function keyFileOf({ session }: Pick<ProcessConfig, 'session'>, config: string): string | null {
  return session.keyFile === undefined ? null : resolve(dirname(config), session.keyFile)
}

/** The problem with the session keys that would stop a start; creates no key and writes nothing. */
export function sessionKeyProblem(options: Pick<SessionKeyOptions, 'environment' | 'keyFile'>): string | null {
  try {
    const known = knownKeys(options)
    return known !== null && 'problem' in known ? known.problem : null
  } catch {
    return null
  }
}

/** The configured or stored keys; null when there are none yet. Throws when the default file cannot be read, which is not a config problem. */
function knownKeys({ environment, keyFile }: Pick<SessionKeyOptions, 'environment' | 'keyFile'>): SessionKeys | null {
  const given = environment['SESSION_KEY']
  if (given !== undefined && given !== '') return readKeys(given, 'SESSION_KEY')
  const path = keyFile ?? defaultFile(environment)
  try {
    return readKeys(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (isMissing(error)) return null
    if (keyFile === null) throw error
    return { problem: `${path}: the session key cannot be read: ${messageOf(error)}` }
  }
}

function passingKey(path: string, error: unknown, warn: SessionKeyOptions['warn']): SessionKeys {
  const reason = `${path} cannot be used (${messageOf(error)})`
  warn(`ids of sessions, files and batches will not survive a restart: ${reason}; set SESSION_KEY`)
  return { keys: [randomBytes(32).toString('hex')] }
}

/** The default key file, in the state folder of systemd or of the user. */
function defaultFile(environment: SessionKeyOptions['environment']): string {
  const folder = environment['STATE_DIRECTORY']?.split(':')[0]
  if (folder) return join(folder, 'session.key')
  const home = environment['XDG_STATE_HOME'] || join(environment['HOME'] || homedir(), '.local', 'state')
  return join(home, 'portico', 'session.key')
}

/** Parses one or several keys; several allow rotation without losing sessions. */
function readKeys(text: string, place: string): SessionKeys {
  const keys = text.split(/[\s,]+/).filter((key) => key !== '')
  const isBad = keys.length === 0 || keys.length > 8 || keys.some((key) => !/^[0-9a-f]{64}$/i.test(key))
  if (isBad) return { problem: `${place}: expected 64 hexadecimal digits, such as \`openssl rand -hex 32\` prints` }
  // Rejects example keys from manuals.
  if (keys.some(isGuessable))
    return { problem: `${place}: this key is too weak; generate one with \`openssl rand -hex 32\`` }
  return { keys: keys.map((key) => key.toLowerCase()) }
}

function isGuessable(key: string): boolean {
  return new Set(Buffer.from(key, 'hex')).size < 12
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
