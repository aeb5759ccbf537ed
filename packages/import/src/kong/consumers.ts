import type { Field } from '../core/yaml-field.ts'
import { Entity, referenceOf, textsOf } from './entities.ts'

/** A Kong consumer with its groups and credentials. */
export interface Consumer {
  readonly name: string
  readonly field: Field
  readonly customId: string | null
  /** The groups of the consumer for `acl` plugins. */
  readonly groups: readonly string[]
  /** The consumer groups of the consumer. A plugin can apply to the consumers of a group. */
  readonly consumerGroups: readonly string[]
  /** The credentials by the name of their collection, such as `keyauth_credentials`. */
  readonly credentials: ReadonlyMap<string, readonly Field[]>
}

const CREDENTIALS = ['keyauth_credentials', 'basicauth_credentials', 'jwt_secrets'] as const
const OTHER_CREDENTIALS = [
  'hmacauth_credentials',
  'oauth2_credentials',
  'oauth2_tokens',
  'mtls_auth_credentials',
  'keyauth_enc_credentials',
  'key_auth_enc_credentials',
]

export function readConsumers(roots: readonly Field[]): Consumer[] {
  const all = (name: string): Field[] => roots.flatMap((root) => [...(root.get(name)?.items ?? [])])
  const groupsOf = groupMembers(all('consumer_groups'))
  return all('consumers').map((field) => {
    const entity = new Entity(field, null)
    entity.markLabels()
    const [username, customId] = [field.get('username'), field.get('custom_id')]
    for (const each of [username, customId]) each?.carried()
    const name = username?.text ?? customId?.text ?? ''
    const names = [name, customId?.text, field.get('id')?.text]
    const own = (collection: string): Field[] => [
      ...(field.get(collection)?.items ?? []),
      ...all(collection).filter((each) => {
        const owner = each.get('consumer')
        const isOwn = owner !== null && names.includes(referenceOf(owner) ?? owner.get('username')?.text ?? '')
        if (isOwn) owner.carried()
        return isOwn
      }),
    ]
    for (const collection of OTHER_CREDENTIALS)
      for (const each of own(collection))
        each.notCarried('the authentication plugin for this credential has no counterpart')
    const groups = own('acls').flatMap((acl) => {
      new Entity(acl, null).markLabels()
      acl.get('group')?.carried()
      return acl.get('group')?.text ?? []
    })
    const credentials = new Map(CREDENTIALS.map((collection) => [collection as string, own(collection)]))
    for (const list of credentials.values()) for (const each of list) new Entity(each, null).markLabels()
    return {
      ...{ name, field, customId: customId?.text ?? null, groups, credentials },
      consumerGroups: [...memberships(field), ...groupsOf(names)],
    }
  })
}

function memberships(consumer: Field): string[] {
  return (consumer.get('groups')?.items ?? []).flatMap((group) => {
    new Entity(group, null).markLabels()
    group.get('name')?.carried()
    return group.text ?? group.get('name')?.text ?? []
  })
}

/** Returns the consumers that consumer groups list in their own `consumers` field. */
function groupMembers(groups: readonly Field[]) {
  return (names: readonly (string | null | undefined)[]): string[] =>
    groups.flatMap((group) => {
      new Entity(group, null).markLabels()
      group.get('name')?.carried()
      const members = group.get('consumers')?.items ?? []
      const isMember = members.some((each) => {
        const found = names.includes(each.text ?? each.get('username')?.text ?? referenceOf(each))
        if (found) each.carried()
        return found
      })
      return isMember ? textsOf(group.get('name')) : []
    })
}
