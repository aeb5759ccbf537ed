import { MESH_REDIRECTION, type Resource } from '@portico/translate'
import { textAt } from '@portico/translate/json'

/** The part of a Pod that is kept: whether it is in a mesh, and its service account. */
export function podPart({ apiVersion, kind, metadata, spec }: Resource): Resource {
  const { name, namespace, uid, resourceVersion } = metadata
  const marks = (texts: Readonly<Record<string, string>> | undefined): Record<string, string> => {
    const mark = texts?.[MESH_REDIRECTION]
    return mark === undefined ? {} : { [MESH_REDIRECTION]: mark }
  }
  const serviceAccountName = textAt(spec, 'serviceAccountName')
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      // A constant: the status of Pods changes often, and no other field of this part changes its meaning.
      generation: 0,
      labels: marks(metadata.labels),
      annotations: marks(metadata.annotations),
    },
    spec: { ...(serviceAccountName !== undefined && { serviceAccountName }) },
  }
}
