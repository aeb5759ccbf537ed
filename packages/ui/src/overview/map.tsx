import { graphlib, layout } from '@dagrejs/dagre'
import {
  Controls,
  Handle,
  type Edge,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import { formatRate, formatShare, formatTook } from '../format/numbers.ts'
import { formatLeft } from '../format/times.ts'
import { backendFilter, withTerm } from '../requests/filter.ts'
import type { MapGraph, MapNode } from './map-graph.ts'
import type { Rate } from './rates.ts'

type BoxNode = Node<{ node: MapNode; now: number; rate: Rate | null; onToggle: () => void }, 'box'>
type Flow = ReactFlowInstance<BoxNode>

/** With more lines than these, labels would stand over other lines. */
const MOST_LABELS = 16
const FIT = { padding: 0.08, maxZoom: 1 }

const SIZE = { width: 190, height: 46 }
const NODE_TYPES = { box: Box }

interface OverviewMapProps {
  graph: MapGraph
  now: number
  /** Opens or closes a group, by its id. */
  onToggle: (id: string) => void
}

/** The map, from left to right: listeners, routes, backends. */
export function OverviewMap({ graph, now, onToggle }: OverviewMapProps) {
  const navigate = useNavigate()
  const flow = useRef<Flow | null>(null)
  const shape = graph.nodes.map(({ id }) => id).join('\n')
  // Rates change every second; the layout changes only with the nodes.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const places = useMemo(() => layOut(graph), [shape])
  useEffect(() => {
    void flow.current?.fitView(FIT)
  }, [shape])
  const isLabelled =
    !graph.nodes.some(({ kind }) => kind === 'group') &&
    graph.edges.filter(({ rate, from }) => rate !== null && from.startsWith('route ')).length <= MOST_LABELS
  const nodes = graph.nodes.map((node): BoxNode => ({
    id: node.id,
    type: 'box',
    data: {
      node,
      now,
      rate: isOnTheWay(node) ? (graph.edges.find(({ to }) => to === node.id)?.rate ?? null) : null,
      onToggle: () => onToggle(node.id.replace(/^group /, '')),
    },
    position: places.get(node.id) ?? { x: 0, y: 0 },
    draggable: false,
    connectable: false,
    // A group is a button by itself.
    focusable: node.kind !== 'group',
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
      isLabelled &&
      from.startsWith('route ') && { label: edgeLabel(rate), labelBgPadding: [4, 2] as [number, number] }),
  }))
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      fitView
      fitViewOptions={FIT}
      onInit={(instance) => {
        flow.current = instance
      }}
      minZoom={0.1}
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

function isOnTheWay({ kind }: MapNode): boolean {
  return kind === 'route' || kind === 'group'
}

function shortLabel({ perSecond, badShare }: Rate): string {
  const bad = badShare === 0 ? '' : ` · ▲ ${formatShare(badShare)}`
  return `${formatRate(perSecond)}${bad}`
}

function edgeLabel(rate: Rate): string {
  return `${shortLabel(rate)} · p95 ${formatTook(rate.p95)}`
}

function Box({ data: { node, now, rate, onToggle } }: NodeProps<BoxNode>) {
  const { evicted } = node
  const left =
    evicted === null ? '' : `✕ ${evicted.isWhole ? 'evicted' : 'partly evicted'}, ${formatLeft(evicted.until, now)}`
  if (node.kind === 'group') {
    return (
      <button
        type="button"
        className={`map-box map-group${rate !== null && rate.badShare > 0 ? ' map-bad' : ''}`}
        aria-expanded={node.isOpen}
        title={node.name}
        onClick={onToggle}
      >
        <Handle type="target" position={Position.Left} />
        <strong className="mono">
          {node.isOpen ? '▾' : '▸'} {node.name}
        </strong>
        <span className="mono dim">{rate === null ? node.about : `${node.about} · ${shortLabel(rate)}`}</span>
        <Handle type="source" position={Position.Right} />
      </button>
    )
  }
  return (
    <div
      className={`map-box map-${node.kind}${evicted === null ? '' : evicted.isWhole ? ' map-out' : ' map-partly'}`}
      title={node.about}
    >
      <Handle type="target" position={Position.Left} />
      <strong className="mono">{node.name}</strong>
      {evicted === null ? (
        <span className="mono dim">{rate === null ? node.about : `${node.about} ${shortLabel(rate)}`}</span>
      ) : (
        <span className="map-left">{left}</span>
      )}
      <Handle type="source" position={Position.Right} />
    </div>
  )
}

function layOut({ nodes, edges }: MapGraph): Map<string, { x: number; y: number }> {
  const graph = new graphlib.Graph()
  // Lines without labels can be shorter, and the boxes larger.
  const isGrouped = nodes.some(({ kind }) => kind === 'group')
  graph.setGraph({ rankdir: 'LR', ranksep: isGrouped ? 80 : 170, nodesep: 16 })
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
