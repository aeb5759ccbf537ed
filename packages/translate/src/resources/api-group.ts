import { groupByKind } from './kinds.ts'

/** The API group of the own kinds, and their version in it. */
export const API_GROUP = groupByKind.GwBackend
export const API_VERSION = 'v1alpha1'
