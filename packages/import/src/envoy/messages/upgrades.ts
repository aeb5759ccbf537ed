import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, takeText } from './message.ts'

/** The upgrades of a connection manager or of a route: whether each one is allowed, by its name in lower case. */
export function readUpgrades(message: Field): Map<string, boolean> {
  return new Map(
    listAt(message, 'upgrade_configs').flatMap((field): [string, boolean][] => {
      const type = takeText(field, 'upgrade_type')?.toLowerCase() ?? ''
      const enabled = memberAt(field, 'enabled')
      enabled?.carried()
      memberAt(field, 'filters')?.notCarried('upgrades pass the same filters', true)
      const ended = memberAt(field, 'connect_config')
      ended?.notCarried('the gateway opens no tunnels to a backend that no CONNECT names: the upgrade is refused')
      const isKnown = /^[a-z][a-z0-9-]{0,31}$/.test(type) && type !== 'connect-udp'
      if (!isKnown) memberAt(field, 'upgrade_type')?.notCarried('the upgrade is refused')
      return isKnown ? [[type, ended === null && enabled?.text !== 'false']] : []
    }),
  )
}

/** Envoy allows the listed upgrades; the gateway allows WebSocket unless a policy says otherwise. */
export function upgradePolicy(upgrades: ReadonlyMap<string, boolean>): { upgrades?: object } {
  const protocols = [...upgrades].flatMap(([type, isAllowed]) => (isAllowed ? [type] : []))
  const isStandard = protocols.length === 1 && protocols[0] === 'websocket'
  return isStandard ? {} : { upgrades: { protocols: protocols.slice(0, 16) } }
}

/** The policy of a route with upgrades of its own; those that the route does not list are as in the connection manager. */
export function routeUpgrades(route: Field, inherited: ReadonlyMap<string, boolean>): object | undefined {
  const own = readUpgrades(route)
  if (own.size === 0) return undefined
  const protocols = [...new Map([...inherited, ...own])].flatMap(([type, isAllowed]) => (isAllowed ? [type] : []))
  return { protocols: protocols.slice(0, 16) }
}
