import type { StatedBehavior, StatedTest } from '../core/test-file.ts'
import type { HttpPort } from '../http/model.ts'
import { statedBehavior } from '../http/stated-behavior.ts'
import type { ReadBind } from './routes/binds.ts'
import { matchesOf } from './routes/precedence.ts'
import type { TestedBackend } from './values/convert.ts'

/**
 * Lists the behavior of all ports for the generated tests: the upstreams of requests, denied requests, and the models
 * in requests to providers.
 */
export function behaviorOf(
  binds: readonly ReadBind[],
  others: readonly StatedTest[],
  env: Readonly<Record<string, string>>,
): StatedBehavior {
  const ports = binds.flatMap(({ port, rules }): HttpPort[] =>
    rules === null ? [] : [{ port, address: null, certificates: null, policies: {}, rules }],
  )
  const { upstreams, tests } = statedBehavior(ports, env)
  const models = binds.flatMap(modelTests)
  return { env, upstreams: { ...upstreams, '*': { body: 'ok' } }, tests: [...tests, ...models, ...others] }
}

type Model = Extract<TestedBackend, { kind: 'model' }>

const SECRET =
  /Authentication$|^authorization$|^extAuth$|^extProc$|^transformation$|^directResponse$|^requestRedirect$|^urlRewrite$/

/** Returns a test with a chat if the port has one route, and this route takes every request and has one provider. */
function modelTests({ port, rules, listeners }: ReadBind): StatedTest[] {
  const [listener, ...others] = listeners
  const [route, ...rest] = listener?.routes ?? []
  if (rules === null || listener === undefined || others.length > 0 || route === undefined || rest.length > 0) return []
  const [tested, ...more] = route.tested
  const isGuarded = Object.keys({ ...listener.policies, ...route.policies }).some((name) => SECRET.test(name))
  if (tested?.kind !== 'model' || more.length > 0 || isGuarded || route.status !== null) return []
  if ('backend' in route.policies && 'ai' in (route.policies['backend'] as object)) return []
  const [match, ...alternatives] = matchesOf(route)
  const takesAll =
    match?.path === null && match.method === null && match.headers.length === 0 && match.query.length === 0
  if (!takesAll || alternatives.length > 0 || route.hostnames.length > 0 || listener.hostname !== null) return []
  return [chatTest(tested, port)]
}

function chatTest({ address, model }: Model, port: number): StatedTest {
  return {
    name: `a chat at port ${port}`,
    upstreams: { '*': { chat: 'ok' } },
    send: { chat: 'hello', model: model ?? 'example', port },
    expect: { status: 200, llm: { model: model ?? 'example' }, upstream: { address } },
  }
}
