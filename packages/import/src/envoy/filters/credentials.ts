import { effect, guard } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, takeFlag } from '../messages/message.ts'
import { fileOf, inlineTextOf } from '../messages/secrets.ts'
import { type FilterReader, replaceable } from './filter.ts'
import { forwarding } from './jwt-headers.ts'

const USER = /^[^\s:]{1,255}:(\$(apr1|1|5|6|2[aby])\$|\{SHA\})\S+$/

/** Reads the filter `basic_auth`: users with the hashes of their passwords. */
export const basicAuth: FilterReader = (config) =>
  replaceable(config, 'basic_auth', (field) => {
    const source = memberAt(field, 'users')
    const file = fileOf(source)
    const users = (inlineTextOf(source) ?? '').split(/\r?\n/).filter((line) => line.trim() !== '')
    if (file === null && (users.length === 0 || users.length > 256 || !users.every((line) => USER.test(line))))
      return 'the gateway does not accept a password hash of the users'
    if (file === null) source?.carried()
    memberAt(field, 'emit_dynamic_metadata')?.carried("the gateway's expressions read the user as basicAuth.username")
    const header = optionOf(field, config, 'authentication_header')
    const name = header?.text?.toLowerCase() ?? 'authorization'
    header?.carried()
    const value = withoutAbsent({
      ...(file === null ? { users } : { secretRef: { file } }),
      location: name === 'authorization' ? undefined : { header: { name, prefix: 'Basic ' } },
    })
    return [
      guard('basicAuthentication', value, (why) => field.notCarried(why, true)),
      ...forwardedName(optionOf(field, config, 'forward_username_header'), 'basicAuth.username'),
      forwarding,
    ]
  })

/** Returns an option of a route's config; if it is absent, the option of the filter. */
function optionOf(field: Field, config: Field, name: string): Field | null {
  return memberAt(field, name) ?? memberAt(config, name)
}

/** Reads the filter `api_key_auth`: API keys with the names of their clients. */
export const apiKeyAuth: FilterReader = (config) => {
  const credentials = readKeys(config)
  return replaceable(config, 'api_key_auth', (field) => {
    const own = readKeys(field)
    const keys = own ?? credentials
    const location = locationOf(field) ?? locationOf(config)
    if (keys === null || location === null) return 'the keys or their location in requests have no counterpart'
    if (memberAt(field, 'allowed_clients') !== null)
      return 'the filter allows clients by name; configure an authorization rule with apiKey.name'
    const forwarded = optionOf(field, config, 'forwarding')
    const isHidden = takeFlag(forwarded, 'hide_credentials')
    return [
      guard('apiKeyAuthentication', { location, secretRef: { data: keys } }, (why) => field.notCarried(why, true)),
      ...forwardedName(memberAt(forwarded, 'header'), 'apiKey.name'),
      ...(isHidden ? [] : [forwarding]),
    ]
  })
}

/** Returns the keys by client name; null when the gateway does not accept one of the keys. */
function readKeys(config: Field): Record<string, object> | null {
  const found: Record<string, object> = {}
  for (const each of listAt(config, 'credentials')) {
    const [key, client] = [memberAt(each, 'key')?.text ?? '', memberAt(each, 'client')?.text ?? '']
    if (!/^[\x21-\x7e]{8,1024}$/.test(key) || client === '' || client.length > 200) return null
    let name = client
    for (let number = 2; name in found; number++) name = `${client}-${number}`
    found[name] = { key, ...(name !== client && { metadata: { name: client } }) }
    each.carried()
  }
  return Object.keys(found).length === 0 ? null : found
}

function locationOf(config: Field): object | null {
  const [first, ...others] = listAt(config, 'key_sources')
  for (const each of others)
    each.notCarried('the gateway reads keys from one location; requests with a key in another location are denied')
  const [header, query, cookie] = ['header', 'query', 'cookie'].map((name) => memberAt(first ?? null, name))
  first?.carried()
  if (header?.text != null) {
    const name = header.text.toLowerCase()
    return { header: name === 'authorization' ? { name, prefix: 'Bearer ' } : { name } }
  }
  if (query?.text != null) return { queryParameter: { name: query.text } }
  return cookie?.text == null ? null : { cookie: { name: cookie.text } }
}

function forwardedName(header: Field | null, value: string): Handler[] {
  const name = header?.text?.toLowerCase() ?? ''
  if (header === null || name === '') return []
  header.carried()
  return [effect((state) => ({ ...state, request: [...state.request, { name, value, when: null }] }))]
}
