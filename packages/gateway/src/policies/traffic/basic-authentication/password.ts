import { hash as digest, timingSafeEqual } from 'node:crypto'
import type { YieldThread } from './crypt-digits.ts'
import { md5Crypt } from './md5-crypt.ts'
import { shaCrypt } from './sha-crypt.ts'

/** Whether a password has that hash, which is of one of the kinds that `schema/htpasswd.ts` admits. */
export async function isPassword(password: Buffer, hash: string, giveWay: YieldThread): Promise<boolean> {
  if (hash.startsWith('$2')) return (await import('@node-rs/bcrypt')).verify(password, hash)
  const [, kind, salt = ''] = hash.split('$')
  if (kind === 'apr1' || kind === '1') {
    return isSame(await md5Crypt(password, { magic: `$${kind}$`, salt }, giveWay), hash)
  }
  if (kind === '5' || kind === '6') {
    return isSame(await shaCrypt(password, hash.slice(0, hash.lastIndexOf('$')), giveWay), hash)
  }
  return isSame(`{SHA}${digest('sha1', password, 'base64')}`, hash)
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
