import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { Deadlines, HeaderBlock, Hops } from '@portico/http'
import type { SeenRequest } from '../../../testing/origin.ts'
import { useOrigin } from '../../../testing/scene.ts'
import { Pool } from '../../../../../http/src/client/pool/pool.ts'
import type { GuardTarget } from '../ask.ts'
import type { GuardContext, TextInfo } from '../guard.ts'

/**
 * A guard service on loopback. The object that `answer` returns is sent as JSON; undefined means that `answer` wrote
 * the response itself.
 */
export async function useGuardTarget(
  t: TestContext,
  answer: (seen: SeenRequest, response: ServerResponse, message: IncomingMessage) => object | undefined,
  authority = 'guard.test',
) {
  const origin = await useOrigin(t, (seen, response, message) => {
    const given = answer(seen, response, message)
    if (given !== undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given))
  })
  const target = useTarget(t, origin.port, authority)
  return { origin, target, seen: origin.seen }
}

export function useTarget(t: TestContext, port: number, authority = 'guard.test'): GuardTarget {
  const deadlines = new Deadlines()
  const pool = new Pool(
    {
      address: { host: '127.0.0.1', port },
      tls: null,
      tunnel: null,
      connectTimeoutMs: 5_000,
      keepalive: { retries: 9, timeMs: 180_000, intervalMs: 180_000 },
      version: 'HTTP1',
      idleTimeoutMs: 5_000,
      maxIdle: 10,
    },
    {
      deadlines,
      hops: new Hops('test'),
      observer: { opened() {}, closed() {}, connectFailed() {}, fellSilent() {} },
    },
  )
  t.after(() => {
    pool.close()
    deadlines.close()
  })
  return {
    client: { hostname: null, send: (request, context, handler) => pool.request(request, handler, context) },
    authority,
    timeoutMs: 10_000,
  }
}

/** A context for texts of these roles. */
export function guardContext(
  roles: readonly TextInfo['role'][],
  headers: { request?: [string, string][]; response?: [string, string][] } = {},
): GuardContext {
  return {
    about: roles.map((role) => ({ role, form: 'text' })),
    requestHeaders: HeaderBlock.of(headers.request ?? []),
    responseHeaders: HeaderBlock.of(headers.response ?? []),
  }
}
