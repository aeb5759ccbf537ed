import { createHmac } from 'node:crypto'
import type { SignableRequest, SignatureHeaders, SigningScope } from '../../pipeline/cloud-credentials.ts'
import { canonicalRequest, sha256 } from './canonical-request.ts'

/** AWS Signature Version 4, sent in headers. */

export interface AwsKeys {
  accessKey: string
  secretKey: string
  /** Session token of temporary keys; null for permanent keys. */
  sessionToken: string | null
}

type Sign = (request: SignableRequest, keys: AwsKeys, now: number) => SignatureHeaders

export function createSigV4({ region, service }: SigningScope): Sign {
  // The derived key stays the same for a whole day.
  let derived: { secretKey: string; day: string; key: Buffer } = { secretKey: '', day: '', key: Buffer.alloc(0) }

  function keyFor(secretKey: string, day: string): Buffer {
    if (derived.secretKey === secretKey && derived.day === day) return derived.key
    let key = hmac(`AWS4${secretKey}`, day)
    for (const part of [region, service, 'aws4_request']) key = hmac(key, part)
    derived = { secretKey, day, key }
    return key
  }

  return (request, { accessKey, secretKey, sessionToken }, now) => {
    const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const day = time.slice(0, 8)
    const bodyHash = request.unsignedAs ?? sha256(request.body)
    const own: [string, string][] = [
      ['x-amz-date', time],
      ['x-amz-content-sha256', bodyHash],
    ]
    if (sessionToken !== null) own.push(['x-amz-security-token', sessionToken])
    const { text, signedHeaders } = canonicalRequest(request, own, { bodyHash, service })
    const scope = `${day}/${region}/${service}/aws4_request`
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(text)}`
    const signature = hmac(keyFor(secretKey, day), toSign).toString('hex')
    const credential = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}`
    own.push(['authorization', `${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`])
    return own
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
