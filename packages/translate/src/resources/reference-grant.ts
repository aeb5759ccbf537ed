import { Fields } from './fields.ts'
import type { Resource } from './resource.ts'

interface ReferenceGrantSpec {
  from: { group: string; kind: string; namespace: string }[]
  /** Without a name, all objects of the kind are granted. */
  to: { group: string; kind: string; name: string | undefined }[]
}

export function readReferenceGrant({ spec: input }: Resource): ReferenceGrantSpec {
  const spec = new Fields(input, ['spec'], [])
  // An invalid entry grants nothing, because no kind is named like the placeholder.
  const text = (fields: Fields, key: string, otherwise: string): string => fields.text(key) ?? otherwise
  return {
    from: spec.objects('from').map((fields) => ({
      group: text(fields, 'group', '-'),
      kind: text(fields, 'kind', '-'),
      namespace: text(fields, 'namespace', '-'),
    })),
    to: spec.objects('to').map((fields) => ({
      group: text(fields, 'group', fields.has('group') ? '-' : ''),
      kind: text(fields, 'kind', '-'),
      name: fields.has('name') ? text(fields, 'name', '-') : undefined,
    })),
  }
}
