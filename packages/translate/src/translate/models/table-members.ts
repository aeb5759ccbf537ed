import type { Context, Query } from '../context.ts'
import { listenersOf } from '../listeners/listeners.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import { linkedModels } from './rule-models.ts'

/** Upper case, which names of namespaces do not have, so that no GwBackend has such a key. */
const PREFIX = 'backend/GwModel/'

/** The key of the models of a listener of a Gateway. */
export function tableOfListener(gateway: string, listener: string): string {
  return `${PREFIX}Gateway/${gateway}/${listener}`
}

/** The key of the models of a rule of an HTTPRoute. */
export function tableOfRule(route: string, index: number): string {
  return `${PREFIX}HTTPRoute/${route}/${index}`
}

export function isTable(key: string): boolean {
  return key.startsWith(PREFIX) && !key.includes('/section/')
}

/** The GwModels of a table, by `namespace/name`. */
export function membersOfTable(context: Context, key: string): readonly string[] {
  const [kind, namespace, name, ...rest] = key.slice(PREFIX.length).split('/')
  const owner = `${namespace}/${name}`
  if (kind === 'Gateway') return context.read(modelsOfGateway, owner)[rest.join('/')] ?? []
  const rules = context.read(linkedModels, owner)
  return rules.find(({ index }) => index === Number(rest[0]))?.members ?? []
}

/** The GwModels that listeners of a Gateway accept, by key of the listener. */
export const modelsOfGateway: Query<Record<string, string[]>> = {
  name: 'modelsOfGateway',
  compute(context, gateway) {
    const owners = context.read(listenersOf, gateway).map(({ parent }) => `${parent.kind}/${parent.key}`)
    const places = [...new Set(owners)].flatMap((value) => context.keys('GwModel', { by: 'parent', value }))
    const byListener: Record<string, string[]> = {}
    for (const place of [...new Set(places)].toSorted()) {
      const attached = context.read(attachmentsOf, `GwModel/${place}`).filter((each) => each.gateway === gateway)
      const listeners = new Set(attached.flatMap((each) => each.listeners.map(({ key }) => key)))
      for (const listener of listeners) (byListener[listener] ??= []).push(place)
    }
    return byListener
  },
}
