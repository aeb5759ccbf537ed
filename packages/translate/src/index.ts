/** The door: resources of a cluster in, configs of gateways and statuses out. Knows no client of Kubernetes. */
export { keyOf } from './resources/resource.ts'
export type { Metadata, Resource } from './resources/resource.ts'
