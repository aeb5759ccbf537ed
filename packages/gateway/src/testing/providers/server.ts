import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject } from '@portico/http/json'
import { VendorRefusal } from './answer.ts'
import type { ParsedRequest } from './parsed-request.ts'
import { type Fault, send } from './fault.ts'
import type { FakeReply, FakeRequest, Vendor } from './reply.ts'

/** A provider on loopback that speaks its vendor's wire format and plays the scenes. */
export interface FakeProvider {
  port: number
  /** `http://127.0.0.1:<port>` */
  url: string
  /** The fault of all requests from now on. */
  fault: Fault
  /** Requests as they came on the wire. */
  seen: FakeRequest[]
  /** The same requests, parsed. */
  asked: ParsedRequest[]
  close(): Promise<void>
}

export async function startFakeProvider(vendor: Vendor, fault: Fault = {}): Promise<FakeProvider> {
  const seen: FakeRequest[] = []
  const asked: ParsedRequest[] = []
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const request = requestOf(message, Buffer.concat(chunks))
      seen.push(request)
      const met = nextFault(provider)
      if (met.hangUp) return void response.destroy()
      const reply = met.failure
        ? vendor.fail(met.failure, null, request)
        : replyOf(vendor, request, (understood) => asked.push(understood))
      void send(reply, response, met)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const provider: FakeProvider = {
    port,
    url: `http://127.0.0.1:${port}`,
    fault,
    seen,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return provider
}

function nextFault(provider: FakeProvider): Fault {
  const { fault } = provider
  if (fault.times === undefined) return fault
  if (fault.times === 0) return {}
  provider.fault = { ...fault, times: fault.times - 1 }
  return fault
}

function replyOf(vendor: Vendor, request: FakeRequest, saw: (asked: ParsedRequest) => void): FakeReply {
  try {
    return vendor.answer(request, saw)
  } catch (error) {
    if (!(error instanceof VendorRefusal)) throw error
    return vendor.fail(error.failure, error.param, request)
  }
}

function requestOf(message: IncomingMessage, raw: Buffer): FakeRequest {
  const target = message.url ?? '/'
  const at = target.indexOf('?')
  return {
    method: message.method ?? '',
    path: at === -1 ? target : target.slice(0, at),
    query: new URLSearchParams(at === -1 ? '' : target.slice(at)),
    headers: message.headers,
    raw,
    body: objectOf(raw),
  }
}

function objectOf(raw: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(raw.toString())
    return isObject(value) ? { ...value } : null
  } catch {
    return null
  }
}
