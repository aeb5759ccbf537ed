import { createHash, createHmac } from 'node:crypto'
import { type FakeRequest, headerOf } from './reply.ts'

export interface AwsKeys {
  accessKeyId: string
  secretAccessKey: string
}

/** Whether the request bears the signature that these keys make, computed from AWS' description of version 4. */
export function isSignedWith(request: FakeRequest, { accessKeyId, secretAccessKey }: AwsKeys): boolean {
  const [, credential = '', signed = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headerOf(request, 'authorization'),
    ) ?? []
  const [id, date = '', region = '', service = ''] = credential.split('/')
  if (id !== accessKeyId || service !== 'bedrock') return false
  const bodyHash = createHash('sha256').update(request.raw).digest('hex')
  const canonical = [
    request.method,
    // The path as it was sent is encoded once more.
    request.path.split('/').map(encode).join('/'),
    [...request.query]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .toSorted()
      .join('&'),
    ...signed.split(';').map((name) => `${name}:${headerOf(request, name).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signed,
    bodyHash,
  ].join('\n')
  const scope = `${date}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', headerOf(request, 'x-amz-date'), scope, hash(canonical)].join('\n')
  const key = [date, region, service, 'aws4_request'].reduce<Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  )
  return createHmac('sha256', key).update(toSign).digest('hex') === signature
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
