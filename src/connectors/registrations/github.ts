import { badRequest } from '../../platform/http/errors.ts'
import { at, textAt } from '../connections/templates.ts'
import type { Found, Planned, Registration } from './registration.ts'

const repositoryOf = (target: string | undefined): { owner: string; repo: string } => {
  const [, owner, repo] = /^([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(target ?? '') ?? []
  if (owner === undefined || repo === undefined) throw badRequest('--repo must be of the form owner/name.')
  return { owner, repo }
}

const events = [
  'issues',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'discussion',
  'discussion_comment',
  'push',
  'release',
]

const hookOf = (planned: Planned, id: string | undefined) => ({ ...repositoryOf(planned.target), id })

/** https://docs.github.com/rest/repos/webhooks */
export const github: Registration = {
  targetOption: 'repo',
  find: async (call, target, isOwnUrl): Promise<Found> => {
    const input = repositoryOf(target)
    const me = await call({ method: 'GET', path: '/user' })
    const login = textAt(me.body, 'login')
    const hooks = await call({ method: 'GET', path: '/repos/{owner}/{repo}/hooks', query: { per_page: 100 } }, input)
    const list = Array.isArray(hooks.body) ? (hooks.body as unknown[]) : []
    const existing = list
      .map((hook) => ({ id: textAt(hook, 'id') ?? '', url: textAt(hook, 'config.url') ?? '' }))
      .find(({ url }) => isOwnUrl(url))
    return {
      target: `${input.owner}/${input.repo}`,
      ...(login === null ? {} : { ownIds: [login] }),
      ...(existing ? { existing } : {}),
    }
  },
  register: async (call, { url, secret, target }) => {
    const { body } = await call(
      {
        method: 'POST',
        path: '/repos/{owner}/{repo}/hooks',
        json: {
          name: 'web',
          active: true,
          events,
          config: { url: '{url}', content_type: 'json', secret: '{secret}', insecure_ssl: '0' },
        },
      },
      { ...repositoryOf(target), url, secret },
    )
    const id = at(body, 'id')
    if (typeof id !== 'number') throw badRequest('GitHub did not return the id of the webhook.')
    return { remoteId: String(id) }
  },
  undo: async (call, planned, remoteId) => {
    if (remoteId === undefined) return
    await call({ method: 'DELETE', path: '/repos/{owner}/{repo}/hooks/{id}' }, hookOf(planned, remoteId))
  },
  removeReplaced: async (call, planned) => {
    await call({ method: 'DELETE', path: '/repos/{owner}/{repo}/hooks/{id}' }, hookOf(planned, planned.existing?.id))
  },
  ping: async (call, planned, remoteId) => {
    await call({ method: 'POST', path: '/repos/{owner}/{repo}/hooks/{id}/pings' }, hookOf(planned, remoteId))
  },
}
