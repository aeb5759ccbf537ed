import { hash } from 'node:crypto'
import { digits, type YieldThread, ROUNDS_PER_TURN } from './crypt-digits.ts'

/**
 * The MD5 hash of Apache's `htpasswd -m`, `$apr1$<salt>$<22 characters>`, and that of crypt(3), which says `$1$` instead.
 * Gives up the thread between its rounds.
 */
export async function md5Crypt(
  password: Buffer,
  { magic, salt }: { magic: '$apr1$' | '$1$'; salt: string },
  giveWay: YieldThread,
): Promise<string> {
  const saltBytes = Buffer.from(salt, 'latin1')
  const inner = md5(password, saltBytes, password)
  const parts = [password, Buffer.from(magic), saltBytes]
  for (let left = password.length; left > 0; left -= 16) parts.push(inner.subarray(0, Math.min(left, 16)))
  // A zero byte and the first of the password, by the bits of its length.
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? ZERO : password.subarray(0, 1))
  let digest = md5(...parts)
  for (let round = 0; round < ROUNDS; round++) {
    if (round % ROUNDS_PER_TURN === ROUNDS_PER_TURN - 1) await giveWay()
    const odd = (round & 1) === 1
    digest = md5(
      odd ? password : digest,
      round % 3 === 0 ? NOTHING : saltBytes,
      round % 7 === 0 ? NOTHING : password,
      odd ? digest : password,
    )
  }
  return `${magic}${salt}$${encode(digest)}`
}

function md5(...parts: Buffer[]): Buffer {
  return hash('md5', Buffer.concat(parts), 'buffer')
}

/** Bytes in an order of their own. */
function encode(digest: Buffer): string {
  const byte = (at: number): number => digest.readUInt8(at)
  let text = ''
  for (const [a, b, c] of BYTE_ORDER) text += digits((byte(a) << 16) | (byte(b) << 8) | byte(c), 4)
  return text + digits(byte(11), 2)
}

const BYTE_ORDER = [
  [0, 6, 12],
  [1, 7, 13],
  [2, 8, 14],
  [3, 9, 15],
  [4, 10, 5],
] as const
const ZERO = Buffer.from([0])
const NOTHING = Buffer.alloc(0)
const ROUNDS = 1000
