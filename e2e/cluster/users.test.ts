import { after, before, describe } from 'node:test'
import { withoutBed } from './bed/programs.ts'
import { boundaries } from './users/boundaries.ts'
import { Cluster } from './users/cluster.ts'
import { commands } from './users/commands.ts'
import { delegation } from './users/delegation.ts'
import { secrets } from './users/secrets.ts'
import { sessions } from './users/sessions.ts'

describe('for those who share a cluster', { skip: withoutBed }, () => {
  let cluster: Cluster
  before(async () => {
    cluster = await Cluster.start()
  })
  after(async () => cluster.bed.stop())

  commands(() => cluster)
  sessions(() => cluster)
  boundaries(() => cluster)
  delegation(() => cluster)
  secrets(() => cluster)
})
