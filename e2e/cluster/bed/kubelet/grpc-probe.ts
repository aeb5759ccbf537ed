import { connect } from 'node:http2'

/** Whether a server answers the gRPC health check of a service (`grpc.health.v1.Health/Check`) with SERVING. */
export function isServing(origin: string, service: string, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connect(origin)
    const end = (isGood: boolean): void => {
      clearTimeout(late)
      resolve(isGood)
      session.destroy()
    }
    const late = setTimeout(end, limitMs, false)
    session.on('error', () => end(false))
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const parts: Buffer[] = []
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('error', () => end(false))
    stream.on('end', () => end(Buffer.concat(parts).equals(SERVING)))
    stream.end(framed(requestFor(service)))
  })
}

/** `HealthCheckRequest`, whose first field is the name of the service; probes name services shorter than 128 bytes. */
function requestFor(service: string): Buffer {
  const name = Buffer.from(service)
  return name.length === 0 ? name : Buffer.concat([Buffer.of(0x0a, name.length), name])
}

/** A gRPC message behind its flag of compression and its length. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** `HealthCheckResponse` with `status: SERVING`. */
const SERVING = framed(Buffer.of(0x08, 1))
