import { hash } from 'node:crypto'
import { digits, type YieldThread, ROUNDS_PER_TURN } from './crypt-digits.ts'

/**
 * The SHA-2 hashes of crypt(3), by the specification of Ulrich Drepper: `$5$[rounds=<n>$]<salt>$<43 characters>` with
 * SHA-256, `$6$` and 86 characters with SHA-512. `setting` is all of it before the last `$`. Gives up the thread between
 * its rounds.
 */
export async function shaCrypt(password: Buffer, setting: string, giveWay: YieldThread): Promise<string> {
  const [, kind, ...rest] = setting.split('$')
  const salt = Buffer.from(rest.at(-1) ?? '', 'latin1')
  const rounds = rest.length > 1 ? Number(rest[0]?.slice('rounds='.length)) : DEFAULT_ROUNDS
  const { algorithm, order } = kind === '6' ? SHA_512 : SHA_256
  const sha = (...parts: Uint8Array[]): Buffer => hash(algorithm, Buffer.concat(parts), 'buffer')

  const inner = sha(password, salt, password)
  const parts = [password, salt, repeated(inner, password.length)]
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? inner : password)
  let digest = sha(...parts)
  const longPassword = repeated(sha(repeated(password, password.length ** 2)), password.length)
  const longSalt = repeated(sha(repeated(salt, salt.length * (16 + (digest[0] ?? 0)))), salt.length)
  for (let round = 0; round < rounds; round++) {
    if (round % ROUNDS_PER_TURN === ROUNDS_PER_TURN - 1) await giveWay()
    const odd = (round & 1) === 1
    digest = sha(
      odd ? longPassword : digest,
      round % 3 === 0 ? NOTHING : longSalt,
      round % 7 === 0 ? NOTHING : longPassword,
      odd ? digest : longPassword,
    )
  }
  return `${setting}$${encode(digest, order)}`
}

/** So many bytes of it, over and over. */
function repeated(bytes: Buffer, length: number): Buffer {
  return length === 0 ? NOTHING : Buffer.alloc(length, bytes)
}

/** Three bytes are encoded as four digits; the last group may be shorter. */
function encode(digest: Buffer, order: readonly (readonly number[])[]): string {
  return order
    .map((group) =>
      digits(
        group.reduce((value, at) => (value << 8) | (digest[at] ?? 0), 0),
        group.length + 1,
      ),
    )
    .join('')
}

/** Bytes in groups of three, each group one further on and turned round by one: the order of the specification. */
function byteOrder(count: number, turn: 1 | 2, last: readonly number[]): number[][] {
  const groups = Array.from({ length: count }, (_, at) => {
    const group = [at, at + count, at + 2 * count]
    const by = (at * turn) % 3
    return [...group.slice(by), ...group.slice(0, by)]
  })
  return [...groups, [...last]]
}

const SHA_256 = { algorithm: 'sha256', order: byteOrder(10, 2, [31, 30]) }
const SHA_512 = { algorithm: 'sha512', order: byteOrder(21, 1, [63]) }
const DEFAULT_ROUNDS = 5000
const NOTHING = Buffer.alloc(0)
