import {
  ConfigIcon,
  ExpressionsIcon,
  KeysIcon,
  MetricsIcon,
  ModelsIcon,
  OverviewIcon,
  RequestsIcon,
  RoutesIcon,
  SpendIcon,
  ToolsIcon,
} from '../parts/icons.tsx'

/** Every page, as the navigation and the search name them, and the key that leads to it. */
export const PAGES = [
  { to: '/', name: 'Overview', key: 'o', Icon: OverviewIcon },
  { to: '/requests', name: 'Requests', key: 'r', Icon: RequestsIcon },
  { to: '/routes', name: 'Routes', key: 't', Icon: RoutesIcon },
  { to: '/models', name: 'Models', key: 'm', Icon: ModelsIcon },
  { to: '/tools', name: 'Tools', key: 'i', Icon: ToolsIcon },
  { to: '/expressions', name: 'Expressions', key: 'e', Icon: ExpressionsIcon },
  { to: '/metrics', name: 'Metrics', key: 'f', Icon: MetricsIcon },
  { to: '/spend', name: 'Spend', key: 's', Icon: SpendIcon },
  { to: '/keys', name: 'Keys', key: 'y', Icon: KeysIcon },
  { to: '/config', name: 'Config', key: 'c', Icon: ConfigIcon },
] as const

export type PagePath = (typeof PAGES)[number]['to']
