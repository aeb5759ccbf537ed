import { after, before, describe } from 'node:test'
import { withoutBed } from './bed/programs.ts'
import { AuthoritySecret } from './faults/authorities.ts'
import { apiServerFaults } from './faults/api-server.ts'
import { Cluster } from './faults/cluster.ts'
import { definitionFaults, takeDefinitionAway } from './faults/definitions.ts'
import { followerFaults } from './faults/followers.ts'
import { foreignObjects } from './faults/foreign-objects.ts'
import { programFaults } from './faults/programs.ts'
import { trustFaults } from './faults/trust.ts'

/** Longer than a leader leads that cannot renew its lease; a whole minute, and ten thousand objects, with FAULTS=full. */
const isFull = process.env['FAULTS'] === 'full'
const AWAY_SECONDS = isFull ? 60 : 20
const FOREIGN_OBJECTS = isFull ? 10_000 : 2_000

describe('under faults, with traffic all the time', { skip: withoutBed }, () => {
  let cluster: Cluster
  let planted: Awaited<ReturnType<AuthoritySecret['plantSuccessor']>>
  before(async () => {
    cluster = await Cluster.start(takeDefinitionAway)
    planted = await new AuthoritySecret(cluster).plantSuccessor()
  })
  after(async () => cluster.stop())

  definitionFaults(() => cluster)
  apiServerFaults(() => cluster, AWAY_SECONDS)
  trustFaults(
    () => cluster,
    () => planted,
  )
  programFaults(() => cluster)
  followerFaults(() => cluster)
  foreignObjects(() => cluster, FOREIGN_OBJECTS)
})
