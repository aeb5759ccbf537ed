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

function addressOf(place: string, standard: number): { host: string; port: number } | null {
  const address = parseHostPort(/:[0-9]+$/.test(place) ? place : `${place}:${standard}`)
  return address === null || address.port === 0 ? null : address
}

const MOST_LENGTH = 512
const REDIS_PORT = 6_379
