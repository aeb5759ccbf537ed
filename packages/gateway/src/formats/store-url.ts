import { parseHostPort } from './address.ts'

/** The address of a store. */
interface StoreUrl {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

/** Parses `redis://host:port/database`, or `rediss://` for TLS; returns null for other texts, such as those with a password. */
export function parseRedisUrl(text: string): (StoreUrl & { readonly database: number }) | null {
  const found = /^redis(s?):\/\/([^/?#@\s]+)(?:\/([0-9]{1,4})?)?$/.exec(text)
  if (found === null || text.length > MOST_LENGTH) return null
  const [, secure = '', place = '', database = '0'] = found
  const address = addressOf(place, REDIS_PORT)
  return address === null ? null : { ...address, isTls: secure !== '', database: Number(database) }
}

/** The address of a database; TLS is on unless the URL turns it off. */
export interface DatabaseUrl extends StoreUrl {
  readonly user: string
  readonly database: string
}

/**
 * Parses `postgres://user@host:port/database`, and `?sslmode=disable` or `?sslmode=verify-full`; returns null for other
 * texts, such as those with a password. Modes of TLS that do not check the name of the server are not supported.
 */
export function parsePostgresUrl(text: string): DatabaseUrl | null {
  const found =
    /^postgres(?:ql)?:\/\/([^:/?#@\s]+)@([^/?#@\s]+)\/([^/?#@\s]+)(?:\?sslmode=(disable|verify-full))?$/.exec(text)
  if (found === null || text.length > MOST_LENGTH) return null
  const [, user = '', place = '', database = '', mode = 'verify-full'] = found
  const address = addressOf(place, POSTGRES_PORT)
  const names = [user, database].map(decodeName)
  const [userName = null, databaseName = null] = names
  if (address === null || userName === null || databaseName === null) return null
  return { ...address, isTls: mode !== 'disable', user: userName, database: databaseName }
}

/** Decodes `%40` and the like; null for what no name can have. */
function decodeName(text: string): string | null {
  try {
    const name = decodeURIComponent(text)
    return name.includes('\0') || new TextEncoder().encode(name).length > MOST_NAME_BYTES ? null : name
  } catch {
    return null
  }
}

function addressOf(place: string, standard: number): { host: string; port: number } | null {
  const address = parseHostPort(/:[0-9]+$/.test(place) ? place : `${place}:${standard}`)
  return address === null || address.port === 0 ? null : address
}

const MOST_LENGTH = 512
const REDIS_PORT = 6_379
const POSTGRES_PORT = 5_432
/** PostgreSQL cuts longer names. */
const MOST_NAME_BYTES = 63
