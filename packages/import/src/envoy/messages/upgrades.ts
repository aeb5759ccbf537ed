import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, takeText } from './message.ts'

/** Reads the upgrades of a connection manager or a route: whether an upgrade is allowed, by its name in lower case. */
export function readUpgrades(message: Field): Map<string, boolean> {
  return new Map(
    listAt(message, 'upgrade_configs').flatMap((field): [string, boolean][] => {
      const type = takeText(field, 'upgrade_type')?.toLowerCase() ?? ''
      const enabled = memberAt(field, 'enabled')
      enabled?.carried()
      memberAt(field, 'filters')?.notCarried('in the gateway, upgrades pass the same policies as other requests', true)
      const ended = memberAt(field, 'connect_config')
      ended?.notCarried('the gateway opens tunnels only to the host that CONNECT names, so the upgrade is refused')
      const isKnown = /^[a-z][a-z0-9-]{0,31}$/.test(type) && type !== 'connect-udp'
      if (!isKnown) memberAt(field, 'upgrade_type')?.notCarried('the gateway refuses this upgrade')
      return isKnown ? [[type, ended === null && enabled?.text !== 'false']] : []
    }),
  )
}

/**
 * Returns the policy for upgrades. Envoy allows only listed upgrades, and the gateway allows WebSocket when it has no
 * policy.
 */
export function upgradePolicy(upgrades: ReadonlyMap<string, boolean>): { upgrades?: object } {
  const protocols = [...upgrades].flatMap(([type, isAllowed]) => (isAllowed ? [type] : []))
  const isStandard = protocols.length === 1 && protocols[0] === 'websocket'
  return isStandard ? {} : { upgrades: { protocols: protocols.slice(0, 16) } }
}

/**
 * Returns the policy for a route that lists upgrades. Upgrades that the route does not list are taken from the
 * connection manager.
 */
export function routeUpgrades(route: Field, inherited: ReadonlyMap<string, boolean>): object | undefined {
  const own = readUpgrades(route)
  if (own.size === 0) return undefined
  const protocols = [...new Map([...inherited, ...own])].flatMap(([type, isAllowed]) => (isAllowed ? [type] : []))
  return { protocols: protocols.slice(0, 16) }
}
