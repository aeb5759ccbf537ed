import { groupByKind } from './kinds.ts'

/** The API group and version of our kinds. */
export const API_GROUP = groupByKind.GwBackend
export const API_VERSION = 'v1alpha1'
