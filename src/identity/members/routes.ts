import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { afterId, idList } from '../id-list.ts'
import type { MemberRouteDeps } from './deps.ts'
import * as members from './members.ts'
import {
  ListedMember,
  Member,
  MemberCreate,
  MemberCreated,
  MemberPatch,
  MemberQuery,
  MemberSignInLink,
} from '../schemas.ts'
import { stepUpTokenOf } from '../sign-in/second-factor/step-up.ts'

const tags = ['Members']
const what = 'Member'

export const registerMemberRoutes = (app: App, { db, config, endConnections }: MemberRouteDeps): void => {
  app.get(
    `${apiPrefix}/members`,
    {
      config: { access: 'members:read' },
      schema: {
        tags,
        summary: 'List members',
        description:
          'Returns the members of the org, oldest first. With `status=invited`, returns people who have not accepted their invitation yet.',
        querystring: MemberQuery,
        response: { 200: Success(CursorList(ListedMember)) },
      },
    },
    async ({ actor, query }) => {
      const { status = 'active', limit, cursor, userId } = query
      const page = { status, limit: limit + 1, after: afterId(cursor), userId }
      const rows = await members.listMembers(db, actor, page)
      return idList(rows, query.limit, (row) => row.id)
    },
  )

  app.post(
    `${apiPrefix}/members`,
    {
      config: {
        access: 'members:write',
        idempotency: { omit: ['data.signInLink'] },
        errors: ['NOT_FOUND'],
        events: ['member.added', 'member.invited'],
      },
      schema: {
        tags,
        summary: 'Add a member',
        description:
          'Adds a person by e-mail address. A new person is a member at once. A person who signed in before or belongs to another org is `invited` and has no access until they accept. Every role except `member` requires step-up, and only owners can add owners. With step-up, the response has a one-time sign-in link for a person without a password that opens this org. CONFLICT when the person is a member or invited already.',
        body: MemberCreate,
        response: { 201: Success(MemberCreated) },
      },
    },
    async (request, reply) => {
      const { member, signInPath } = await members.createMember(
        request.db,
        request.actor,
        request.body,
        stepUpTokenOf(request),
      )
      const signInLink = signInPath === null ? null : originOf(request, config.baseUrl) + signInPath
      reply.code(201)
      return sendResource(request, reply, { ...member, signInLink })
    },
  )

  app.post(
    `${apiPrefix}/members/:id/sign-in-link`,
    {
      config: { access: 'members:write', what, idempotency: { omit: ['data.signInLink'] } },
      schema: {
        tags,
        summary: 'Create a sign-in link for an invited person',
        description:
          'Returns a new one-time sign-in link that opens this org, for a person who has not accepted the invitation or has never signed in. Earlier links for this org stop working. Requires step-up; only owners can do it for owners. CONFLICT for a person who can sign in without it.',
        params: IdParams,
        response: { 201: Success(MemberSignInLink) },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      const { path, expiresAt } = await members.renewSignInLink(request.db, actor, params.id, stepUpTokenOf(request))
      reply.code(201)
      return ok({ signInLink: originOf(request, config.baseUrl) + path, expiresAt })
    },
  )

  app.get(
    `${apiPrefix}/members/:id`,
    {
      config: { access: 'members:read', what },
      schema: {
        tags,
        summary: 'Retrieve a member',
        description: 'Returns a member, or a person who has not accepted their invitation yet.',
        params: IdParams,
        response: { 200: Success(Member) },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await members.getMember(db, request.actor, request.params.id)),
  )

  app.patch(
    `${apiPrefix}/members/:id`,
    {
      config: { access: 'members:write', what, events: ['member.role_changed', 'member.removed'] },
      schema: {
        tags,
        summary: 'Change the role of a member',
        description:
          'Changes the role of a member. Requires step-up. Only owners can add or remove owners. Withdraws open invitations that the member may not send with the new role, and their unused sign-in links. CONFLICT for the last owner, and for a person who has not accepted yet: remove them and invite them again.',
        params: IdParams,
        body: MemberPatch,
        response: { 200: Success(Member) },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      const change = { role: body.role, stepUpToken: stepUpTokenOf(request), ifMatch: request.headers['if-match'] }
      return sendResource(request, reply, await members.changeRole(db, actor, params.id, change))
    },
  )

  app.delete(
    `${apiPrefix}/members/:id`,
    {
      config: { access: 'members:write', what, events: ['member.removed', 'connection.revoked'] },
      schema: {
        tags,
        summary: 'Remove a member',
        description:
          'Removes a member from the org. Their API keys, sessions and connections in this org end at once, and so do the invitations that they sent and nobody accepted, and their unused sign-in links. For a person who has not accepted yet, the invitation ends. CONFLICT for the last owner.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params, headers }) => {
      await members.removeMember(db, actor, params.id, { ifMatch: headers['if-match'], endConnections })
      return ok({ deleted: true as const })
    },
  )
}
