import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { staticBackend } from '../../../backends/static/call.ts'
import { connectionSettings } from '../../../compile/connection.ts'
import { Deadlines, HeaderBlock, Hops } from '@portico/http'
import type { BackendIdentity } from '../../../pipeline/compiled/compiled.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { createTable, SharedTable } from '../../../state/shared-table.ts'
import { createResolver, Endpoints, Pools } from '@portico/http/client'
import type { Hub } from '../../hub.ts'
import type { RpcMessage } from '../../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink, TargetTransport } from '../../transport.ts'
import { sseTransport } from './transport.ts'

/** Parts of tests of targets over HTTP, without a gateway around them. */

export async function useServer(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A transport of one worker to a server on this machine. */
export function useTransport(t: TestContext, hub: Hub, port: number, idleTimeoutMs = 60_000): TargetTransport {
  const deadlines = new Deadlines()
  const resolver = createResolver({ family: 'Auto' })
  const pools = new Pools(deadlines, new Hops('test'), () => ({
    opened() {},
    closed() {},
    connectFailed() {},
    fellSilent() {},
  }))
  t.after(() => {
    pools.close()
    resolver.close()
    deadlines.close()
  })
  const identity: BackendIdentity = {
    key: 'target',
    name: 'target',
    kind: 'mcp',
    request: null,
    sign: null,
    response: null,
    requestBody: 'none',
    unhealthyCondition: null,
  }
  const upstream = { connectTimeoutMs: 5_000, poolIdleTimeoutMs: 60_000, poolMaxIdle: 10 }
  const counters = new SharedTable(createTable())
  const endpoints = new Endpoints({ counters, random: Math.random, monotonic: () => 0, evicted() {} })
  const connection = staticBackend(identity, {
    backend: identity,
    settings: connectionSettings({}, upstream),
    address: { host: '127.0.0.1', port },
    guard: null,
    resolver,
    pools,
    endpoints,
  })
  const bug = (error: unknown): void => {
    throw error
  }
  return sseTransport({
    connection,
    path: '/sse',
    authority: `127.0.0.1:${port}`,
    bug,
    hub,
    key: 'target',
    idleTimeoutMs,
    openTimeoutMs: 30_000,
    maxMessageBytes: 16 * 1024 * 1024,
    hasReplicas: false,
  })
}

/** A client's request that brings one header. */
export function caller(header = 'nobody'): Caller {
  return {
    // Nothing of it is looked at but whether somebody watches.
    rx: { trace: null } as unknown as RequestContext,
    context: { hops: '', clientVersion: 'HTTP/1.1', clientScheme: 'http', connectingTo() {} },
    headers: HeaderBlock.of([['x-from', header]]),
    version: '',
  }
}

interface CollectedMessages {
  messages: RpcMessage[]
  failure: TargetFailure | null
}

export function recordAnswer() {
  const messages: RpcMessage[] = []
  const over = Promise.withResolvers<CollectedMessages>()
  const sink: AnswerSink = {
    message(message) {
      messages.push(message)
      return true
    },
    closed: () => over.resolve({ messages, failure: null }),
    failed: (failure) => over.resolve({ messages, failure }),
  }
  return { sink, messages, answered: over.promise }
}

export function askLink(
  link: TargetLink,
  message: RpcMessage,
  from = caller(),
): Promise<CollectedMessages> & { call: LinkCall } {
  const { sink, answered } = recordAnswer()
  return Object.assign(answered, { call: link.request(message, from, sink) })
}

export function tellLink(link: TargetLink, message: RpcMessage): Promise<TargetFailure | null> {
  return new Promise((resolve) => link.tell(message, caller(), resolve))
}
