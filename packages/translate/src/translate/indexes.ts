import type { IndexTable } from '../resources/lookups.ts'

/** What resources are found by from the other end of a reference. */
export const indexTable: IndexTable = {}
