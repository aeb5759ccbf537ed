import { hash as digest, timingSafeEqual } from 'node:crypto'
import { apr1 } from './apr1.ts'

/** Whether a password has that hash, which is of one of the kinds that `schema/htpasswd.ts` admits. */
export async function isPassword(password: Buffer, hash: string): Promise<boolean> {
  if (hash.startsWith('$2')) return (await import('@node-rs/bcrypt')).verify(password, hash)
  if (hash.startsWith('$apr1$')) return isSame(await apr1(password, hash.split('$')[2]!), hash)
  if (hash.startsWith('{SHA}')) return isSame(`{SHA}${digest('sha1', password, 'base64')}`, hash)
  const { default: unixCrypt } = await import('unix-crypt-td-js')
  return isSame(unixCrypt([...password], hash), hash)
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
