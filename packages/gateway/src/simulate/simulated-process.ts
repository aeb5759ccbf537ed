import { BadMessage, readMessage, type RpcMessage } from '../mcp/protocol.ts'
import type { ProcessLink, ProcessSpec } from '../mcp/hub.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../mcp/transport.ts'
import type { SimulatedUpstreams } from './upstreams.ts'
import type { Upstream, UpstreamMessage, WorldReply } from './world.ts'

/**
 * The simulated link to the program of a stdio MCP target. No program starts: the simulated world answers messages
 * under the address `stdio:<target>`, as an MCP server with HTTP would.
 */
export function simulatedProcess({ name, cmd, args }: ProcessSpec, upstreams: SimulatedUpstreams): ProcessLink {
  const address = `stdio:${name}`
  const call = (message: RpcMessage, { replied, failed }: CallEnd): LinkCall => {
    const upstream = upstreams.find(address)
    if (upstream === null) upstreams.unknown('process', `${name} (${[cmd, ...args].join(' ')})`)
    const failure = upstream === null ? NOT_STARTED : startFailure(upstream)
    let isOver = false
    queueMicrotask(() => {
      if (isOver) return
      if (failure !== null || upstream === null) return failed(failure ?? NOT_STARTED)
      upstreams.ask(messageOf(address, message), upstream, (reply) => {
        if (isOver) return
        if (reply === null) return failed({ code: 'broken', message: 'the world has no answer' })
        if (reply.fault === 'reset') return failed({ code: 'broken', message: 'the program ended' })
        replied(reply)
      })
    })
    return { cancel: () => void (isOver = true), resume() {} }
  }
  return {
    request: (message, answer) =>
      call(message, { replied: (reply) => answerWith(answer, reply), failed: (failure) => answer.failed(failure) }),
    tell: (message, done) => call(message, { replied: () => done(null), failed: done }),
    // A simulated program never sends a message on its own, so there is nothing to listen to.
    listen: () => ({ cancel() {}, resume() {} }),
    end() {},
  }
}

interface CallEnd {
  replied(this: void, reply: WorldReply): void
  failed(this: void, failure: TargetFailure): void
}

function answerWith(answer: AnswerSink, { body }: WorldReply): void {
  const message = readMessage(body)
  if (message instanceof BadMessage) return answer.failed({ code: 'bad_answer', message: message.message })
  answer.message(message, '')
  answer.closed()
}

function startFailure({ refusal }: Upstream): TargetFailure | null {
  return refusal === null ? null : { code: 'unavailable', message: `the program does not start (${refusal})` }
}

/** Returns a message to a program as an HTTP request to an MCP server. */
function messageOf(address: string, { bytes }: RpcMessage): UpstreamMessage {
  return {
    ...{ address, scheme: 'http', version: 'HTTP/1.1', method: 'POST', authority: '', target: '/', headers: [] },
    body: bytes,
  }
}

const NOT_STARTED: TargetFailure = { code: 'unavailable', message: 'a simulation starts no programs' }
