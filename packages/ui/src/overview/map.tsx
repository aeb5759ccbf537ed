import { graphlib, layout } from '@dagrejs/dagre'
import { Controls, Handle, type Edge, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useNavigate } from '@tanstack/react-router'
import { formatRate, formatShare, formatTook } from '../format/numbers.ts'
import { formatLeft } from '../format/times.ts'
import { backendFilter, withTerm } from '../requests/filter.ts'
import type { MapGraph, MapNode } from './map-graph.ts'
import type { Rate } from './rates.ts'

type BoxNode = Node<{ node: MapNode; now: number; rate: Rate | null }, 'box'>

const SIZE = { width: 190, height: 46 }
const NODE_TYPES = { box: Box }

/** Left to right: who is asked, what is chosen, where it goes. */
export function OverviewMap({ graph, now }: { graph: MapGraph; now: number }) {
  const navigate = useNavigate()
  const places = layOut(graph)
  const nodes = graph.nodes.map((node): BoxNode => ({
    id: node.id,
    type: 'box',
    data: {
      node,
      now,
      rate: graph.edges.find(({ to, rate }) => to === node.id && rate !== null && node.kind === 'route')?.rate ?? null,
    },
    position: places.get(node.id) ?? { x: 0, y: 0 },
    draggable: false,
    connectable: false,
    ariaLabel: `${node.kind} ${node.name}${node.evicted === null ? '' : ', evicted'}`,
  }))
  const edges = graph.edges.map(({ id, from, to, rate }): Edge => ({
    id,
    source: from,
    target: to,
    focusable: false,
    className: rate === null ? 'edge-quiet' : rate.badShare > 0 ? 'edge-bad' : 'edge-busy',
    animated: false,
    // Near a listener the lines of all its routes meet: their labels stand in the boxes of the routes.
    ...(rate !== null &&
      !from.startsWith('listener ') && { label: edgeLabel(rate), labelBgPadding: [4, 2] as [number, number] }),
  }))
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      fitView
      fitViewOptions={{ padding: 0.08, maxZoom: 1 }}
      minZoom={0.2}
      nodesConnectable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      proOptions={{ hideAttribution: true }}
      onNodeClick={(_event, { data }) => {
        if (data.node.kind === 'route')
          void navigate({ to: '/requests', search: { q: withTerm('', 'route', data.node.name.split('/')[0] ?? '') } })
        if (data.node.kind === 'backend')
          void navigate({ to: '/requests', search: { q: backendFilter(data.node.name) } })
      }}
    >
      <Controls showInteractive={false} />
    </ReactFlow>
  )
}

function edgeLabel({ perSecond, badShare, p95 }: { perSecond: number; badShare: number; p95: number }): string {
  const bad = badShare === 0 ? '' : ` · ▲ ${formatShare(badShare)}`
  return `${formatRate(perSecond)}${bad} · p95 ${formatTook(p95)}`
}

function Box({ data: { node, now, rate } }: NodeProps<BoxNode>) {
  const { evicted } = node
  const left =
    evicted === null ? '' : `✕ ${evicted.isWhole ? 'evicted' : 'partly evicted'}, ${formatLeft(evicted.until, now)}`
  return (
    <div
      className={`map-box map-${node.kind}${evicted === null ? '' : evicted.isWhole ? ' map-out' : ' map-partly'}`}
      title={node.about}
    >
      <Handle type="target" position={Position.Left} />
      <strong className="mono">{node.name}</strong>
      {evicted === null ? (
        <span className="mono dim">{rate === null ? node.about : `${node.about} ${edgeLabel(rate)}`}</span>
      ) : (
        <span className="map-left">{left}</span>
      )}
      <Handle type="source" position={Position.Right} />
    </div>
  )
}

function layOut({ nodes, edges }: MapGraph): Map<string, { x: number; y: number }> {
  const graph = new graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', ranksep: 170, nodesep: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of nodes) graph.setNode(id, { ...SIZE })
  for (const { from, to } of edges) graph.setEdge(from, to)
  layout(graph)
  return new Map(
    nodes.map(({ id }) => {
      const { x, y } = graph.node(id)
      return [id, { x: x - SIZE.width / 2, y: y - SIZE.height / 2 }]
    }),
  )
}
