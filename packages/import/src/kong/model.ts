import type { Entity } from './entities.ts'

/** A Kong service. */
export interface Service {
  readonly names: readonly string[]
  readonly entity: Entity
  readonly isEnabled: boolean
}

/** A Kong route. */
export interface Route {
  /** The name of the route; for a route without a name, the name of its service and its position. */
  readonly label: string
  readonly names: readonly string[]
  readonly entity: Entity
  /** The service that gets the requests; null for a route without a service. */
  readonly service: Service | null
}
