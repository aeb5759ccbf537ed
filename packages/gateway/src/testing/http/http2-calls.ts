import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { Deadlines, emptySource, HeaderBlock } from '@portico/http'
import { Http2Connection } from '../../../../http/src/client/http2/http2-connection.ts'
import type { UpstreamCall, UpstreamRequest } from '@portico/http/client'

/** An HTTP/2 connection to a backend on loopback, with the state of its pool. */
export async function useHttp2Connection(t: TestContext, port: number): Promise<Http2Connection> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  const deadlines = new Deadlines()
  t.after(() => {
    socket.destroy()
    deadlines.close()
  })
  return new Http2Connection(socket, { idle() {}, closed() {}, fellSilent() {} }, deadlines)
}

/** One call, and what has become of it so far. */
export interface SentCall {
  readonly call: UpstreamCall
  readonly informed: number[]
  status: number
  headers: HeaderBlock | null
  /** The announced content length; -1 when the head has none. */
  length: number
  body: string
  trailers: string
  /** `whole`, or the code and the message of the error. */
  readonly outcome: Promise<string>
  /** The error may be answered by another try. */
  isUnsent: boolean
  /** Lets a consumer that was blocked go on. */
  resume(): void
}

/** Sends a request and reads its response; a blocked consumer takes one piece after each `resume`. */
export function sendCall(
  connection: Http2Connection,
  request: Partial<UpstreamRequest> = {},
  { isBlocked = false } = {},
): SentCall {
  const outcome = Promise.withResolvers<string>()
  const state = { informed: [], status: 0, headers: null, length: 0, body: '', trailers: '', isUnsent: false } as Pick<
    SentCall,
    'informed' | 'status' | 'headers' | 'length' | 'body' | 'trailers' | 'isUnsent'
  >
  let resume = (): void => {}
  const call = connection.send(
    {
      method: 'GET',
      target: '/',
      authority: 'a.test',
      headers: new HeaderBlock(),
      body: emptySource,
      upgrade: '',
      teTrailers: false,
      ...request,
    },
    {
      informed: (status) => void state.informed.push(status),
      upgraded: () => outcome.resolve('upgraded'),
      failed: (error) => {
        state.isUnsent = error.unsent
        outcome.resolve(`${error.code}: ${error.message}`)
      },
      responded({ status, headers, body }) {
        state.status = status
        state.headers = headers
        state.length = body.length
        resume = () => body.resume()
        body.pipe({
          source: null,
          write: (chunk) => void (state.body += chunk.toString('latin1')),
          flush: () => !isBlocked,
          end(trailers) {
            state.trailers = trailers?.toText() ?? ''
            outcome.resolve('whole')
          },
          abort: (cause) =>
            outcome.resolve(`${'code' in cause ? `${String(cause.code)}: ` : ''}${cause.message}, inside the body`),
        })
      },
    },
  )
  return Object.assign(state, { call, outcome: outcome.promise, resume: () => resume() })
}
