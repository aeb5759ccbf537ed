import type { TeamView } from '@portico/gateway/admin-api'

/** A team with the teams that belong to it. */
export interface TeamNode {
  readonly team: TeamView
  readonly children: readonly TeamNode[]
  /** 0 for a team without a parent. */
  readonly depth: number
}

/** The teams as trees, by name. A team whose parent is not in the list is a root. */
export function teamTree(teams: readonly TeamView[]): TeamNode[] {
  const names = new Set(teams.map(({ name }) => name))
  const childrenOf = Map.groupBy(teams, ({ parent }) => (parent !== undefined && names.has(parent) ? parent : ''))
  const nodesOf = (parent: string, depth: number): TeamNode[] =>
    (childrenOf.get(parent) ?? []).map((team) => ({
      ...{ team, depth },
      // The gateway allows four levels; a list that was read in the middle of changes must not hang the page.
      children: depth >= MOST_DEPTH ? [] : nodesOf(team.name, depth + 1),
    }))
  return nodesOf('', 0)
}

const MOST_DEPTH = 8
/** A team at this depth cannot have teams of its own. */
export const LAST_DEPTH = 3
