import type { Field } from '../core/yaml-field.ts'
import type { Certificate } from '../http/model.ts'
import { routeHost } from '../http/addresses.ts'
import { Entity, referenceOf } from './entities.ts'
import type { Source } from './source.ts'

/**
 * Reads the certificates for the port with TLS. If the files have no certificates, returns a default certificate when a
 * route requires TLS, and otherwise an empty list.
 */
export function readCertificates({ roots, routes }: Source): Certificate[] {
  const all = (name: string): Field[] => roots.flatMap((root) => [...(root.get(name)?.items ?? [])])
  const found = all('certificates').flatMap((field) => readCertificate(field, all('snis')))
  if (found.length > 0) return found
  const needsTls = routes.some(({ entity }) => {
    const protocols = (entity.get('protocols')?.items ?? []).flatMap(({ text }) => text ?? [])
    return protocols.length > 0 && !protocols.some((each) => !['https', 'grpcs', 'wss'].includes(each))
  })
  return needsTls ? [certificateOf(null)] : []
}

function certificateOf(hostname: string | null): Certificate {
  const file = hostname === null ? 'default' : hostname.replace('*', 'any')
  return { hostname, cert: `certificates/${file}.pem`, key: `certificates/${file}.key`, root: null }
}

function readCertificate(field: Field, snis: readonly Field[]): Certificate[] {
  new Entity(field, null).markLabels()
  const id = field.get('id')?.text ?? ''
  const own = [
    ...(field.get('snis')?.items ?? []),
    ...snis.filter((each) => referenceOf(each.get('certificate')) === id),
  ]
  const hosts = own.flatMap((sni) => {
    new Entity(sni, null).markLabels()
    const name = sni.text === null ? sni.get('name') : sni
    sni.get('certificate')?.carried()
    const host = routeHost(name?.text ?? '')
    if (host === null) name?.notCarried('the value is not a valid hostname')
    else name?.carried()
    return host ?? []
  })
  const list = hosts.length === 0 ? [certificateOf(null)] : hosts.map(certificateOf)
  for (const [name, key] of [
    ['cert', 'cert'],
    ['key', 'key'],
  ] as const) {
    field.get(name)?.changed(
      `write the text to ${list
        .map((each) => each[key])
        .join(', ')
        .slice(0, 200)}`,
    )
  }
  for (const name of ['cert_alt', 'key_alt'])
    field.get(name)?.notCarried('a listener of the gateway has one certificate')
  return list
}
