import { NODE_ADDRESS } from './node-settings.ts'
import type { PodObject } from './pod-types.ts'

/** The value of a `fieldRef`. */
export function fieldOf({ metadata, spec }: PodObject, address: string, path: string): string {
  const entry = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (entry !== null) return metadata[entry[1] as 'labels' | 'annotations']?.[entry[2] ?? ''] ?? ''
  const values: Readonly<Record<string, string | undefined>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'metadata.labels': allOf(metadata.labels),
    'metadata.annotations': allOf(metadata.annotations),
    'spec.nodeName': spec.nodeName,
    'spec.serviceAccountName': spec.serviceAccountName,
    'status.podIP': address,
    'status.podIPs': address,
    'status.hostIP': NODE_ADDRESS,
    'status.hostIPs': NODE_ADDRESS,
  }
  return values[path] ?? ''
}

function allOf(entries: Readonly<Record<string, string>> = {}): string {
  return Object.entries(entries)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join('\n')
}
