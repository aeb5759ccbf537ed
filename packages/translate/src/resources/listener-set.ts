import { type FieldProblem, Fields } from './fields.ts'
import { GATEWAY_GROUP } from './kinds.ts'
import { type ListenerSpec, readListeners } from './listener.ts'
import { type ObjectReference, readReference } from './references.ts'
import type { Resource } from './resource.ts'

interface ListenerSetSpec {
  parent: ObjectReference | undefined
  listeners: ListenerSpec[]
  problems: FieldProblem[]
}

export function readListenerSet({ metadata, spec: input }: Resource): ListenerSetSpec {
  const problems: FieldProblem[] = []
  const { namespace = '' } = metadata
  const spec = new Fields(input, ['spec'], problems)
  const reference = spec.object('parentRef')
  const parent = readReference(reference, { group: GATEWAY_GROUP, kind: 'Gateway', namespace })
  reference.done()
  const listeners = readListeners(spec, namespace)
  spec.done()
  return { parent, listeners, problems }
}
