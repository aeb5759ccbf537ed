import { Refusal, scalar } from '../../kit.ts'
import type { Schema } from '../../kit.ts'

/** Lines in the format of the program `htpasswd`: a name and the hash of a password. */

interface PasswordEntry {
  username: string
  hash: string
}

/** One line `<username>:<hash>`. */
export function htpasswdLine(): Schema<PasswordEntry> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      const entry = parseLine(input)
      return typeof entry === 'string' ? new Refusal('bad_format', { detail: entry }) : entry
    },
    {
      type: 'htpasswd line',
      expected:
        'a line `<username>:<hash>` with a hash by bcrypt, MD5 (`$apr1$`, `$1$`), SHA-2 (`$5$`, `$6$`) or SHA-1 (`{SHA}`)',
      json: { type: 'string', minLength: 3, maxLength: 512 },
      secret: true,
    },
  )
}

/** Parses a whole file; empty lines and lines that begin with `#` are skipped. */
export function parseHtpasswd(text: string): PasswordEntry[] | Refusal {
  const entries = new Map<string, PasswordEntry>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const entry = parseLine(line)
    const fault = typeof entry === 'string' ? entry : entries.has(entry.username) ? 'a user a second time' : null
    if (fault !== null) return new Refusal('bad_format', { detail: `${fault} in line ${index + 1}` })
    if (typeof entry !== 'string') entries.set(entry.username, entry)
    if (entries.size > MAX_USERS) return new Refusal('out_of_range', { detail: `more than ${MAX_USERS} users` })
  }
  return entries.size === 0 ? new Refusal('bad_format', { detail: 'no users' }) : [...entries.values()]
}

/** Returns the entry, or the problem. The problem never contains the part after the colon, which may be a password. */
function parseLine(line: string): PasswordEntry | string {
  const colon = line.indexOf(':')
  if (colon === -1) return 'no colon'
  const username = line.slice(0, colon)
  const hash = line.slice(colon + 1)
  if (username === '' || username.length > 255) return 'a username that is empty or longer than 255 characters'
  if (/[\x00-\x1f\x7f]/.test(username)) return 'a username with control characters'
  if (BCRYPT.test(hash)) {
    const cost = Number(hash.slice(4, 6))
    return cost >= 4 && cost <= MAX_COST ? { username, hash } : `a bcrypt cost outside 4 to ${MAX_COST}`
  }
  const rounds = /^\$[56]\$rounds=([0-9]+)\$/.exec(hash)?.[1]
  if (rounds !== undefined && (Number(rounds) < MIN_ROUNDS || Number(rounds) > MAX_ROUNDS)) {
    return `a number of rounds outside ${MIN_ROUNDS} to ${MAX_ROUNDS}`
  }
  if (DES.test(hash)) {
    return `a DES crypt hash of the user ${JSON.stringify(username)}, which is not supported: hash the password anew with \`htpasswd -B\``
  }
  return OTHERS.some((form) => form.test(hash)) ? { username, hash } : 'something else than a hash of a known kind'
}

const MAX_USERS = 10_000
/** Each step doubles the time; at 15 a check takes seconds. */
const MAX_COST = 15
const BCRYPT = /^\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}$/
/** The minimum of crypt(3). At the maximum a check takes about half a second of a worker, in small pieces. */
const MIN_ROUNDS = 1_000
const MAX_ROUNDS = 100_000
const OTHERS = [
  /^\$(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}$/,
  /^\$5\$(?:rounds=[1-9][0-9]*\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}$/,
  /^\$6\$(?:rounds=[1-9][0-9]*\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}$/,
  /^\{SHA\}[A-Za-z0-9+/]{27}=$/,
]
/** DES crypt uses only the first eight characters of a password, and is guessed within hours. */
const DES = /^[./A-Za-z0-9]{13}$/
