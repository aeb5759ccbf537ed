import { Button } from '@mantine/core'
import type { TeamView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Failed, Loading, Stale } from '../parts/states.tsx'
import { BudgetBars } from './budget-bar.tsx'
import { limitText } from './limit-text.ts'
import { teamsQuery } from './queries.ts'
import { LAST_DEPTH, type TeamNode, teamTree } from './team-tree.ts'

interface TeamsProps {
  isReadOnly: boolean
  onEdit: (team: TeamView) => void
  /** A new team below another one. */
  onAdd: (parent: string) => void
  onRemove: (team: TeamView) => void
}

/** All teams as trees, with their budgets. */
export function Teams(props: TeamsProps) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(teamsQuery)
  if (data === undefined) {
    if (error === null) return <Loading what="teams" />
    return <Failed what="The teams" error={error} onRetry={() => void refetch()} />
  }
  return (
    <section className="keys-main" aria-label="Teams">
      {error !== null && <Stale at={dataUpdatedAt} error={error} />}
      {data.teams.length === 0 ? (
        <Empty title="No teams yet">
          <p>
            A team has limits and budgets for all of its keys together. Teams can belong to teams, four levels deep.
          </p>
        </Empty>
      ) : (
        <TeamNodes nodes={teamTree(data.teams)} {...props} />
      )}
    </section>
  )
}

function TeamNodes({ nodes, ...props }: TeamsProps & { nodes: readonly TeamNode[] }) {
  return (
    <ul className="team-tree">
      {nodes.map(({ team, children, depth }) => (
        <li key={team.id}>
          <TeamCard team={team} depth={depth} {...props} />
          {children.length > 0 && <TeamNodes nodes={children} {...props} />}
        </li>
      ))}
    </ul>
  )
}

function TeamCard({
  team,
  depth,
  isReadOnly,
  onEdit,
  onAdd,
  onRemove,
}: TeamsProps & { team: TeamView; depth: number }) {
  const { name, budgets, limits = [] } = team
  return (
    <div className="team" role="group" aria-label={`Team ${name}`}>
      <div>
        <h2 className="mono">{name}</h2>
        <Link to="/keys" search={{ team: name }}>
          Keys
        </Link>
      </div>
      <BudgetBars budgets={budgets} />
      {limits.length > 0 && <p className="dim">{limits.map(limitText).join(', ')}</p>}
      {!isReadOnly && (
        <div className="keys-buttons">
          <Button size="compact-xs" variant="default" aria-label={`Edit ${name}`} onClick={() => onEdit(team)}>
            Edit
          </Button>
          {depth < LAST_DEPTH && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Add a team to ${name}`}
              onClick={() => onAdd(name)}
            >
              Add a team
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            className="keys-danger-line"
            aria-label={`Remove ${name}`}
            onClick={() => onRemove(team)}
          >
            Remove
          </Button>
        </div>
      )}
    </div>
  )
}
