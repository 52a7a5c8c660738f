import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  Req,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { getConnectionToken, getModelToken, MongooseModule } from '@nestjs/mongoose';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Type } from 'class-transformer';
import { IsEnum, IsInt, IsISO8601, IsNumberString, IsOptional, IsUrl, Length, MaxLength, Min } from 'class-validator';
import mongoose from 'mongoose';
import { __decorate, __metadata, __param } from 'tslib';
import {
  BY_ID,
  BY_TIME,
  Callers,
  createFilter,
  createShareId,
  createSharesFilter,
  DRIVER_OPTIONS,
  NEWEST_FIRST,
  PAGE_SIZE,
  RESPONSE_FIELDS,
  toDocument,
  toResponse,
  toResponses,
} from './campaigns.js';

/**
 * NestJS on its Fastify adapter, with Mongoose and class-validator. Reads are `lean`. JavaScript has no decorators, so this is the
 * code that the TypeScript compiler would generate.
 */
const decorate = (target, name, type, ...decorators) =>
  __decorate([...decorators, __metadata('design:type', type)], target.prototype, name, undefined);

class NewCampaign {}
decorate(NewCampaign, 'name', String, Length(1, 190));
for (const name of ['description', 'shareContext', 'objective']) decorate(NewCampaign, name, String, MaxLength(5000));
decorate(NewCampaign, 'status', String, IsEnum(['draft', 'published', 'archived']));
decorate(NewCampaign, 'destinationUrl', String, IsUrl(), MaxLength(2048));
for (const name of ['startDate', 'endDate']) decorate(NewCampaign, name, String, IsISO8601());
for (const name of ['shareRewardAmount', 'clickRewardAmount', 'maxRewardPerEmployee', 'totalBudget']) {
  decorate(
    NewCampaign,
    name,
    String,
    IsNumberString(),
    Type(() => String),
  );
}

class ListQuery {
  page = 1;
}
decorate(
  ListQuery,
  'page',
  Number,
  IsOptional(),
  IsInt(),
  Min(1),
  Type(() => Number),
);
decorate(ListQuery, 'search', String, IsOptional(), MaxLength(200));

const { Mixed } = mongoose.Schema.Types;
const schemaOptions = { versionKey: false, autoIndex: false };
const Campaign = new mongoose.Schema(
  {
    ...{ _id: String, workspaceId: String, createdBy: String, revision: String },
    ...{ name: String, description: String, shareContext: String, objective: String, status: String },
    ...{ destinationUrl: String, domain: String, image: String, contentPillarId: String, searchText: String },
    ...{ startDate: String, endDate: String, startsAt: Number, endsAt: Number, archived: Boolean },
    ...{ shareRewardAmount: String, clickRewardAmount: String, maxRewardPerEmployee: String, totalBudget: String },
    ...{ tagIds: [String], groupIds: [String], resources: [Mixed], targetShares: Number },
    ...{ clicks: Number, shares: Number, createdAt: String, updatedAt: String },
  },
  schemaOptions,
);
const Share = new mongoose.Schema({ _id: String, workspaceId: String, campaignId: String }, schemaOptions);

class CampaignService {
  constructor(campaigns, shares) {
    this.campaigns = campaigns;
    this.shares = shares;
  }

  async list(caller, { page, search }) {
    const found = await this.campaigns
      .find(createFilter(caller.workspaceId, search), RESPONSE_FIELDS)
      .sort(NEWEST_FIRST)
      .hint(BY_TIME)
      .skip((page - 1) * PAGE_SIZE)
      .limit(PAGE_SIZE)
      .lean();
    return toResponses(
      found,
      await this.shares.find(createSharesFilter(caller, found), { _id: 0, campaignId: 1 }).hint(BY_ID).lean(),
    );
  }

  async get({ workspaceId, memberId }, id) {
    const [found, share] = await Promise.all([
      this.campaigns.findOne({ workspaceId, _id: id }, RESPONSE_FIELDS).hint(BY_ID).lean(),
      this.shares
        .findOne({ workspaceId, _id: createShareId(memberId, id) }, { _id: 1 })
        .hint(BY_ID)
        .lean(),
    ]);
    if (!found) throw new NotFoundException();
    return toResponse(found, share !== null);
  }

  async create(caller, body) {
    return toResponse(await this.campaigns.create(toDocument(body, caller)), false);
  }
}
__decorate([Injectable()], CampaignService);
Reflect.defineMetadata(
  'self:paramtypes',
  [getModelToken('campaigns'), getModelToken('shares')].map((param, index) => ({ index, param })),
  CampaignService,
);

class CampaignController {
  constructor(service) {
    this.service = service;
  }

  list({ caller }, query) {
    return this.service.list(caller, query);
  }

  get({ caller }, id) {
    return this.service.get(caller, id);
  }

  create({ caller }, body) {
    return this.service.create(caller, body);
  }
}
const decorateRoute = (name, types, ...decorators) => {
  const all = [...decorators, __param(0, Req()), __metadata('design:paramtypes', types)];
  __decorate(all, CampaignController.prototype, name, null);
};
decorateRoute('list', [Object, ListQuery], Get(), __param(1, Query()));
decorateRoute('get', [Object, String], Get(':id'), __param(1, Param('id')));
decorateRoute('create', [Object, NewCampaign], Post(), __param(1, Body()));
const Routes = __decorate(
  [Controller('campaigns'), __metadata('design:paramtypes', [CampaignService])],
  CampaignController,
);

class KeyGuard {
  constructor(connection) {
    this.callers = new Callers(connection);
  }

  async canActivate(context) {
    const request = context.switchToHttp().getRequest();
    request.caller = await this.callers.find(request.headers.authorization);
    if (!request.caller) throw new UnauthorizedException();
    return true;
  }
}

class CampaignModule {}
const createFeature = (name, schema) => ({ name, schema, collection: name });
const Root = __decorate(
  [
    Module({
      imports: [
        MongooseModule.forRoot(process.env.MONGODB_URI, DRIVER_OPTIONS),
        MongooseModule.forFeature([createFeature('campaigns', Campaign), createFeature('shares', Share)]),
      ],
      controllers: [Routes],
      providers: [
        CampaignService,
        { provide: APP_GUARD, useFactory: (connection) => new KeyGuard(connection), inject: [getConnectionToken()] },
      ],
    }),
  ],
  CampaignModule,
);

const app = await NestFactory.create(Root, new FastifyAdapter(), { logger: false, abortOnError: false });
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
await app.listen(Number(process.env.PORT), '127.0.0.1');
