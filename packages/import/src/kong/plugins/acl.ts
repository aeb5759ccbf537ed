import type { Plugin } from '../scopes.ts'
import { textsOf } from '../entities.ts'
import { closes, conditionOf, deniedIf, effectOf, type ReadPlugin, type Surroundings } from './plugin.ts'

/** Reads the plugin `acl`, which allows or denies the consumers of certain groups. */
export function readAcl(plugin: Plugin, { consumers }: Surroundings): ReadPlugin {
  const { config } = plugin
  const [allow, deny] = [config.first('allow', 'whitelist'), config.first('deny', 'blacklist')]
  const [allowed, denied] = [textsOf(allow), textsOf(deny)]
  if (allowed.length === 0 && denied.length === 0) return closes(plugin, 'the plugin names no groups')
  for (const each of [allow, deny]) each?.carried()
  const hide = config.get('hide_groups_header')
  if (hide?.isTrue === true) hide.carried()
  else (hide ?? config.field).changed('the gateway does not send x-consumer-groups')
  config.get('include_consumer_groups')?.notCarried('the gateway reads only groups that acls define')
  config.get('always_use_authenticated_groups')?.carried('the gateway reads only groups that acls define')
  const some = consumers.filter(({ groups }) =>
    groups.some((group) => (allowed.length > 0 ? allowed : denied).includes(group)),
  )
  return effectOf((state, when, { identities }) => {
    const [isOne, isAny] = [conditionOf(some, identities), conditionOf(consumers, identities)]
    if (isOne === null) return deniedIf(state, when, 'true')
    return deniedIf(state, when, allowed.length > 0 ? `!(${isOne})` : `${isOne} || !(${isAny})`)
  })
}
