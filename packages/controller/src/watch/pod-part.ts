import { MESH_REDIRECTION, type Resource } from '@portico/translate'
import { listAt, textAt } from '@portico/translate/json'

/** The part of a Pod that is kept: labels, its mark of a mesh, its service account, its address and whether it is ready. */
export function podPart({ apiVersion, kind, metadata, spec, status }: Resource): Resource {
  const { name, namespace, uid, resourceVersion, labels, annotations, deletionTimestamp } = metadata
  const mark = annotations?.[MESH_REDIRECTION]
  const podIP = textAt(status, 'podIP')
  const ready = listAt(status, 'conditions').find((each) => textAt(each, 'type') === 'Ready')
  const serviceAccountName = textAt(spec, 'serviceAccountName')
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      // A constant: most changes of Pods change nothing of this part.
      generation: 0,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      labels: labels ?? {},
      annotations: mark === undefined ? {} : { [MESH_REDIRECTION]: mark },
    },
    spec: { ...(serviceAccountName !== undefined && { serviceAccountName }) },
    status: {
      ...(podIP !== undefined && { podIP }),
      ...(ready !== undefined && { conditions: [{ type: 'Ready', status: textAt(ready, 'status') ?? '' }] }),
    },
  }
}
